# Latent classes by poLCA from given probabilities, on all rows, those with missing cells too, in so many passes.
# Rscript polca_fit.R folder passes      (table.csv: columns of 1, 2, ...; start.csv: a row for each level of each column)
suppressMessages(library(poLCA))
given <- commandArgs(trailingOnly = TRUE)
X <- read.csv(file.path(given[1], "table.csv"))
start <- as.matrix(read.csv(file.path(given[1], "start.csv"), header = FALSE))
levels <- sapply(X, max, na.rm = TRUE)
ends <- cumsum(levels)
probabilities <- lapply(seq_along(levels), function(j) t(unname(start[(ends[j] - levels[j] + 1):ends[j], ])))
formula <- as.formula(paste("cbind(", paste(names(X), collapse = ","), ") ~ 1"))
fit <- function(passes) poLCA(formula, X, nclass = ncol(start), maxiter = passes, na.rm = FALSE,
    probs.start = probabilities, verbose = FALSE, calc.se = FALSE)
fit(2)  # whatever is loaded late is loaded now
before <- proc.time()
found <- fit(as.integer(given[2]))
taken <- proc.time() - before
numbers <- c(found$llik, found$numiter, taken[["user.self"]] + taken[["sys.self"]])
writeLines(format(numbers, digits = 15), file.path(given[1], "found.csv"))
