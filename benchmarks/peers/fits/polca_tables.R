# Runs in R: poLCA on the tables of the tutorials, which it brings along.
#
#   Rscript polca_tables.R found.csv
#
# Writes a line for each number: table, classes, what it is, its name (of a class, or CLASS COLUMN LEVEL), and the number.
suppressMessages(library(poLCA))
data(carcinoma); data(gss82); data(election)
candidates <- outer(c("MORAL", "CARES", "KNOW", "LEAD", "DISHON", "INTEL"), c("G", "B"), paste0)
runs <- list(
  carcinoma = list(carcinoma, 2:4, 20), gss82 = list(gss82, 1:4, 50), election = list(election[, c(candidates)], 3, 10)
)
found <- list()
for (table in names(runs)) for (K in runs[[table]][[2]]) {
  set.seed(1)
  X <- runs[[table]][[1]]
  f <- as.formula(paste0("cbind(", paste(names(X), collapse = ","), ")~1"))
  m <- poLCA(f, X, K, maxiter = 20000, tol = 1e-10, na.rm = FALSE, nrep = runs[[table]][[3]], verbose = FALSE)
  keep <- function(what, values, names = "") {
    found[[length(found) + 1]] <<- data.frame(table, K, what, names, value = format(as.numeric(values), digits = 12))
  }
  for (what in c("llik", "npar", "aic", "bic", "Gsq", "Chisq", "resid.df", "N")) keep(what, m[[what]])
  r <- as.matrix(m$posterior)
  keep("entropy", 1 + sum(ifelse(r > 0, r * log(r), 0)) / (nrow(r) * log(max(K, 2))))
  keep("attempts", length(m$attempts))
  keep("agreeing", sum(m$attempts > max(m$attempts) - 0.5))
  order <- order(-m$P)  # classes from the largest to the smallest
  keep("share", m$P[order], 1:K)
  if (K > 1) keep("share se", m$P.se[order], 1:K)
  keep("assigned", tabulate(m$predclass, K)[order] / m$N, 1:K)
  for (column in names(X)) for (k in 1:K) {
    levels <- if (is.factor(X[[column]])) trimws(levels(X[[column]])) else colnames(m$probs[[column]])
    keep("probability", m$probs[[column]][order[k], ], paste(k, column, levels, sep = "|"))
    keep("probability se", m$probs.se[[column]][order[k], ], paste(k, column, levels, sep = "|"))
  }
}
version <- data.frame(table = "", K = 0, what = c("R", "poLCA"), names = c(as.character(getRversion()), as.character(packageVersion("poLCA"))), value = 0)
write.csv(rbind(do.call(rbind, found), version), commandArgs(trailingOnly = TRUE)[1], row.names = FALSE)
