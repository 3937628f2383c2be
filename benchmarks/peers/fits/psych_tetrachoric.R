# Runs in R: the tetrachoric correlations of each table by psych, and the seconds.
#
#   Rscript psych_tetrachoric.R folder NAME ...
#
# For each folder/NAME.csv: folder/NAME_psych.csv (thresholds of each pair from the rows in which both were observed) and
# folder/NAME_psych_global.csv (psych's default: from all rows of a column); folder/psych.csv has names and seconds.
suppressMessages(library(psych))
options(mc.cores = 2)
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]

correlations <- function(table, ...) suppressMessages(suppressWarnings(tetrachoric(table, smooth = FALSE, ...)))
keep <- function(found, name) {
  write.table(format(found$rho, digits = 15), file.path(folder, name), sep = ",", row.names = FALSE, col.names = FALSE, quote = FALSE)
}

warm <- correlations(matrix(c(0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 0), 6, 2))  # whatever is loaded late is loaded now
lines <- character()
for (name in arguments[-1]) {
  table <- as.matrix(read.csv(file.path(folder, paste0(name, ".csv"))))
  begun <- proc.time()[["elapsed"]]
  found <- correlations(table, global = FALSE)
  lines <- c(lines, paste(name, proc.time()[["elapsed"]] - begun, sep = ","))
  keep(found, paste0(name, "_psych.csv"))
  keep(correlations(table), paste0(name, "_psych_global.csv"))
}
writeLines(c(lines, paste("R", getRversion(), sep = ","), paste("psych", packageVersion("psych"), sep = ",")), file.path(folder, "psych.csv"))
