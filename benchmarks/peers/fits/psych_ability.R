# Runs in R: tetrachoric correlations by psych, factors by minimum residuals, rotated by oblimin (GPArotation).
#
#   Rscript psych_ability.R table.csv folder
#
# Writes folder/correlations.csv (thresholds of each pair from the rows in which both were observed), folder/oblimin_K.csv
# and folder/phi_K.csv for K = 2 and 4 factors, and folder/versions.csv.
suppressMessages({
  library(psych)
  library(GPArotation)
})
options(mc.cores = 1)
arguments <- commandArgs(trailingOnly = TRUE)
keep <- function(matrix, name) {
  write.table(format(unclass(matrix), digits = 12), file.path(arguments[2], name), sep = ",", row.names = FALSE, col.names = FALSE, quote = FALSE)
}

X <- as.matrix(read.csv(arguments[1]))
rho <- suppressMessages(tetrachoric(X, global = FALSE, smooth = FALSE))$rho
keep(rho, "correlations.csv")
for (k in c(2, 4)) {
  found <- fa(rho, k, n.obs = nrow(X), fm = "minres", rotate = "oblimin")
  keep(found$loadings, paste0("oblimin_", k, ".csv"))
  keep(found$Phi, paste0("phi_", k, ".csv"))
}
versions <- c(R = as.character(getRversion()), psych = as.character(packageVersion("psych")), GPArotation = as.character(packageVersion("GPArotation")))
writeLines(paste(names(versions), versions, sep = ","), file.path(arguments[2], "versions.csv"))
