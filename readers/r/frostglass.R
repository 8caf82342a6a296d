# Reads Frostglass releases of grids, tables of counts, and sums of products, with base R and jsonlite.
#
#   source("frostglass.R")
#   release <- read_release("health.npz")
#   grid_answers(release, data.frame(age = c(30, 60), height = c(170, 170)))
#   table_counts(release, c("age", "city"))
#   product_sums(release)
#
# Every function stops with one sentence where a file holds what it does not know. Formulas and names are those of
# docs/release-files.md.

# What a file says: `manifest`, and its arrays with their shapes, whole numbers as doubles.
read_release <- function(path) {
  names <- utils::unzip(path, list = TRUE)$Name
  if (!"manifest.npy" %in% names) stop("The file is not a release.", call. = FALSE)
  arrays <- lapply(stats::setNames(names, sub("\\.npy$", "", names)), function(name) .array(path, name))
  manifest <- jsonlite::fromJSON(arrays$manifest, simplifyVector = FALSE)
  if (!identical(manifest$format, "frostglass-release")) stop("The file is not a release.", call. = FALSE)
  if (manifest$format_version == 3) stop("A release of several questions is read part by part, which these functions do not.", call. = FALSE)
  arrays$manifest <- NULL
  list(manifest = manifest, arrays = arrays, variance = sum(vapply(manifest$privacy$noise, .variance, 0)))
}

.array <- function(path, name) {
  file <- unz(path, name, "rb")
  on.exit(close(file))
  magic <- readBin(file, "raw", 8)
  length <- readBin(file, "integer", 1, size = if (magic[7] > 1) 4 else 2, signed = FALSE, endian = "little")
  header <- rawToChar(readBin(file, "raw", length))
  kind <- sub(".*'descr': '([^']+)'.*", "\\1", header)
  shape <- sub(".*'shape': \\(([0-9, ]*)\\).*", "\\1", header)
  shape <- as.numeric(strsplit(gsub(" ", "", shape), ",")[[1]])
  count <- prod(shape)
  if (startsWith(kind, "<U")) {
    codes <- readBin(file, "integer", as.numeric(substring(kind, 3)), size = 4, endian = "little")
    return(intToUtf8(codes[codes > 0]))
  }
  bytes <- c("|i1" = 1, "<i2" = 2, "<i4" = 4, "<i8" = 8)[kind]
  if (is.na(bytes)) stop("The file is not a release, or it is damaged.", call. = FALSE)
  if (bytes < 8) {
    values <- readBin(file, "integer", count, size = bytes, signed = TRUE, endian = "little")
  } else {
    # R has no whole numbers of 64 bits: two halves are, up to 2^53.
    halves <- matrix(readBin(file, "integer", 2 * count, size = 4, endian = "little"), 2)
    values <- (halves[1, ] %% 2^32) + 2^32 * halves[2, ]
  }
  list(shape = shape, numbers = as.numeric(values))
}

.exact <- function(text) {
  parts <- as.numeric(strsplit(as.character(text), "/")[[1]])
  if (length(parts) == 1) parts else parts[1] / parts[2]
}

# The variance of the noise in one counter.
.variance <- function(noise) {
  scale <- .exact(noise$parameter)
  if (noise$distribution == "rounded_l2") return((noise$block + 1) * scale^2 + 1 / 12)
  laplace <- 1 / (2 * sinh(1 / (2 * scale))^2)
  if (noise$distribution == "discrete_laplace") return(laplace)
  if (noise$distribution == "shared_laplace") return(.exact(noise$draws) * laplace)
  if (scale > 4) return(scale)
  z <- 1:79
  2 * sum(z^2 * exp(-z^2 / (2 * scale))) / (1 + 2 * sum(exp(-z^2 / (2 * scale))))
}

# Sums of products ---------------------------------------------------------------------------------------------------

# The sum of z z' over the records, z = (1, numbers between -1 and 1, categories as 0 and 1), and the standard deviation
# of the noise in each entry.
product_sums <- function(release) {
  if (release$manifest$mechanism != "products") stop("The release holds no sums of products.", call. = FALSE)
  groups <- 0
  squared <- TRUE
  names <- "1"
  for (column in release$manifest$domain$columns) {
    first <- max(groups) + 1
    if (!is.null(column$categories) && column$kind != "ordered") {
      categories <- unlist(column$categories)
      groups <- c(groups, rep(first, length(categories)))
      squared <- c(squared, rep(FALSE, length(categories)))
      names <- c(names, paste(column$name, "=", categories))
    } else {
      groups <- c(groups, first)
      squared <- c(squared, TRUE)
      names <- c(names, column$name)
    }
  }
  m <- length(groups)
  full <- matrix(0, m, m, dimnames = list(names, names))
  place <- 1
  for (i in seq_len(m)) for (j in i:m) {
    if (groups[i] != groups[j] || (i == j && squared[i])) {
      full[i, j] <- full[j, i] <- release$arrays$table$numbers[place] / 2^30
      place <- place + 1
    }
  }
  for (i in which(!squared)) full[i, i] <- full[1, i]
  list(sums = full, error = sqrt(release$variance) / 2^30)
}

# Tables of counts ---------------------------------------------------------------------------------------------------

# Estimated counts of columns that were measured together, as an array with a side a column, in the file's order.
table_counts <- function(release, columns) {
  if (release$manifest$mechanism != "tables") stop("The release holds no tables of counts.", call. = FALSE)
  layout <- .layout(release)
  places <- sort(match(columns, layout$names))
  if (anyNA(places)) stop("The release has no such column.", call. = FALSE)
  measured <- vapply(layout$tables, function(one) all(places %in% one), NA)
  if (!any(measured)) stop("These columns were not measured together.", call. = FALSE)
  counts <- array(0, layout$cells[places])
  for (inside in .subsets(places)) {
    spread <- prod(layout$cells[setdiff(places, inside)])
    residual <- .residual(release, layout, inside) / spread
    counts <- counts + if (length(inside)) .spread(residual, match(inside, places), dim(counts)) else residual
  }
  dimnames(counts) <- stats::setNames(lapply(places, function(i) layout$labels[[i]]), layout$names[places])
  counts
}

.subsets <- function(places) {
  found <- lapply(0:(2^length(places) - 1), function(bits) places[bitwAnd(bits, 2^(seq_along(places) - 1)) > 0])
  if (length(places)) found else list(integer())
}

# An array of some sides, repeated along the others.
.spread <- function(values, sides, shape) {
  others <- setdiff(seq_along(shape), sides)
  aperm(array(values, shape[c(sides, others)]), order(c(sides, others)))
}

.layout <- function(release) {
  facts <- release$manifest$parameters
  columns <- release$manifest$domain$columns
  bins <- unlist(facts$bins)
  halvings <- unlist(facts$halvings)
  cells <- integer()
  halved <- integer()
  labels <- list()
  for (column in columns) {
    if (!is.null(column$categories)) {
      cells <- c(cells, length(column$categories))
      halved <- c(halved, 0)
      labels <- c(labels, list(unlist(column$categories)))
    } else {
      plain <- column$kind == "numeric" && is.null(column$step) && is.null(column$missing_category) && is.null(column$scale)
      if (!plain) stop("Cells of columns with steps, of dates and of amounts are read by Frostglass alone.", call. = FALSE)
      edges <- signif(seq(column$low, column$high, length.out = bins[1] + 1), 6)
      cells <- c(cells, bins[1])
      halved <- c(halved, halvings[1])
      labels <- c(labels, list(paste(edges[-length(edges)], "to", edges[-1])))
      bins <- bins[-1]
      halvings <- halvings[-1]
    }
  }
  tables <- lapply(facts$tables, function(one) unlist(one) + 1)
  contrasts <- facts$measured == "contrasts"
  residuals <- unique(unlist(lapply(tables, .subsets), recursive = FALSE))
  keys <- vapply(residuals, function(one) paste(sprintf("%05d", one), collapse = " "), "")
  residuals <- residuals[order(lengths(residuals), keys)]
  counted <- if (facts$measured == "cells") tables else if (contrasts) residuals else residuals[-1]
  bits <- min(16, 26 %/% max(lengths(tables)))
  blocks <- list()
  start <- 0
  weights <- unlist(facts$weights)
  for (which in counted) {
    size <- prod(cells[which] - contrasts)
    blocks <- c(blocks, list(list(columns = which, level = 0, at = start + seq_len(size), weight = weights[length(blocks) + 1])))
    start <- start + size
  }
  for (which in if (contrasts) list() else residuals[lengths(residuals) == 1]) {
    steps <- max(1, round(halved[which] / 4))
    for (level in if (halved[which]) unique(round(halved[which] * seq_len(steps) / steps))) {
      size <- cells[which] * 2^level
      blocks <- c(blocks, list(list(columns = which, level = level, at = start + seq_len(size), weight = weights[length(blocks) + 1])))
      start <- start + size
    }
  }
  list(names = vapply(columns, function(one) one$name, ""), cells = cells, halvings = halved, labels = labels, tables = tables,
    contrasts = contrasts, each = if (contrasts) lapply(cells, .contrasts, bits) else NULL, blocks = blocks)
}

# Contrasts of an axis: cells split again and again, each time one part against the rest.
.contrasts <- function(cells, bits) {
  splits <- list()
  todo <- list(c(0, cells))
  while (length(todo)) {
    one <- todo[[length(todo)]]
    todo[[length(todo)]] <- NULL
    whole <- one[2] - one[1]
    if (whole == 1) next
    prime <- 2
    while (prime * prime <= whole && whole %% prime) prime <- prime + 1
    if (whole %% prime) prime <- whole
    middle <- one[1] + (whole %/% prime) * (prime - 1)
    splits <- c(splits, list(c(one[1], middle, one[2], prime - 1, sqrt(whole * (prime - 1)))))
    todo <- c(todo, list(c(one[1], middle)), list(c(middle, one[2])))
  }
  lengths <- unique(vapply(splits, function(one) one[5], 0))
  tried <- max(2^bits - 4096, 2^bits / 2):2^bits
  worst <- vapply(tried, function(near) max(abs(pmax(1, round(near / lengths)) * lengths / near - 1)), 0)
  near <- tried[which.min(worst)]
  back <- matrix(0, cells, length(splits))
  for (k in seq_along(splits)) {
    one <- splits[[k]]
    left <- max(1, round(near / one[5]))
    right <- left * one[4]
    square <- (one[2] - one[1]) * left^2 + (one[3] - one[2]) * right^2
    back[(one[1] + 1):one[2], k] <- left / square
    back[(one[2] + 1):one[3], k] <- -right / square
  }
  back
}

# What a table of these columns adds to its margins; the number of records where there are none. Of all blocks that tell
# it, the mean weighed by precision.
.residual <- function(release, layout, which) {
  sums <- 0
  whole <- 0
  for (block in layout$blocks) {
    told <- if (layout$contrasts) setequal(block$columns, which) else all(which %in% block$columns)
    if (!told) next
    values <- release$arrays$table$numbers[block$at] / block$weight
    others <- prod(layout$cells[setdiff(block$columns, which)]) * 2^block$level
    if (block$level) values <- colSums(matrix(values, 2^block$level)) # finer cells tell a cell by their sum
    if (layout$contrasts && length(which)) {
      # The last side of a block moves fastest in the file, and the first one in R.
      values <- array(values, rev(layout$cells[block$columns] - 1))
      for (side in rev(seq_along(block$columns))) {
        at <- length(block$columns) - side + 1
        values <- .along(values, at, layout$each[[block$columns[side]]])
      }
      values <- aperm(values, rev(seq_along(which)))
    } else if (!layout$contrasts) {
      values <- aperm(array(values, rev(layout$cells[block$columns])), rev(seq_along(block$columns)))
      kept <- match(which, block$columns)
      values <- if (length(kept)) apply(values, kept, sum) else sum(values)
      for (side in seq_along(kept)) values <- .centred(array(values, layout$cells[which]), side)
    }
    precision <- block$weight^2 / others
    sums <- sums + precision * values
    whole <- whole + precision
  }
  if (!length(which) && is.numeric(release$arrays$count$numbers)) stop("A number of records beside the tables is read by Frostglass alone.", call. = FALSE)
  sums / whole
}

.along <- function(values, side, matrix) {
  shape <- dim(values)
  order <- c(side, setdiff(seq_along(shape), side))
  moved <- matrix %*% matrix(aperm(values, order), shape[side])
  aperm(array(moved, c(nrow(matrix), shape[-side])), order(order))
}

.centred <- function(values, side) {
  if (length(dim(values)) < 2) return(values - mean(values))
  sweep(values, setdiff(seq_along(dim(values)), side), apply(values, setdiff(seq_along(dim(values)), side), mean))
}

# Grids --------------------------------------------------------------------------------------------------------------

# Estimates at places given column by column: how many records' worth of closeness is there; `error` is that of the noise.
grid_answers <- function(release, places) {
  facts <- release$manifest$parameters
  domain <- release$manifest$domain
  if (release$manifest$mechanism != "histogram") stop("The release is no grid.", call. = FALSE)
  kernel <- facts$kernel
  if (!kernel$name %in% c("gaussian", "laplacian") || facts$halvings > 0) {
    stop("Grids of a Gaussian or Laplacian kernel are read, and no pairs of grids.", call. = FALSE)
  }
  metric <- if (kernel$name == "gaussian") "l2" else "l1"
  height <- (if (is.null(domain$category_distance)) 1 else domain$category_distance) / (if (metric == "l2") sqrt(2) else 2)
  bandwidths <- rep_len(unlist(kernel$bandwidth), length(domain$columns))
  power <- kernel$power
  cells <- unlist(facts$cells)
  factors <- list()
  shared <- FALSE
  for (k in seq_along(domain$columns)) {
    column <- domain$columns[[k]]
    value <- places[[column$name]]
    if (is.null(value)) stop("The places must have every column of the release.", call. = FALSE)
    if (column$kind == "categorical") {
      code <- match(value, unlist(column$categories))
      if (anyNA(code)) stop("A category that is asked about is not on the list.", call. = FALSE)
      apart <- if (metric == "l2") sqrt(2) * height else 2 * height
      size <- length(column$categories)
      factor <- t(vapply(code, function(one) ifelse(seq_len(size) == one, 1, .fades(metric, apart / bandwidths[k], power)), numeric(size)))
    } else {
      if (column$kind != "numeric" || !is.null(column$scale)) stop("Columns of numbers and of categories are read.", call. = FALSE)
      box <- identical(domain$scale, "box")
      shift <- if (box) column$low else 0
      width <- if (box) column$high - column$low else 1
      low <- (column$low - shift) / width
      asked <- (value - shift) / width
      near <- function(nodes) outer(asked, nodes, function(a, b) .fades(metric, abs(a - b) / bandwidths[k], power))
      if (cells[1] > 0) {
        pitch <- (column$high - column$low) / width / cells[1]
        factor <- .fitted(near(low + pitch * seq(-9, cells[1] + 9, by = 0.25)), cells[1])
        shared <- TRUE
      } else { # every value has a counter of its own
        factor <- near(low + column$step / width * 0:floor((column$high - column$low) / column$step + 1e-9))
      }
      cells <- cells[-1]
    }
    factors <- c(factors, list(factor))
  }
  scale <- if (shared) 2^32 else 1
  table <- release$arrays$table$numbers / scale
  estimate <- error <- numeric(nrow(places))
  for (i in seq_len(nrow(places))) {
    weights <- 1
    for (factor in factors) weights <- as.vector(outer(factor[i, ], weights)) # the last column moves fastest
    estimate[i] <- sum(weights * table)
    error[i] <- sqrt(sum(weights^2) * release$variance) / scale
  }
  data.frame(places, estimate = estimate, error = error)
}

.fades <- function(metric, distance, power) if (metric == "l2") exp(-0.5 * power * distance^2) else exp(-power * distance)

.bspline <- function(x) {
  x <- abs(x)
  ifelse(x < 1, (4 - 6 * x^2 + 3 * x^3) / 6, pmax(2 - x, 0)^3 / 6)
}

# Coefficients of the cubic splines whose combination is closest to functions, one a row, at the fitting points.
.fitted <- function(values, cells) {
  nodes <- cells + 19
  taps <- .bspline(seq(-2, 2, by = 0.25))
  design <- matrix(0, ncol(values), nodes)
  for (j in seq_len(nodes)) {
    at <- 4 * (j - 1) + seq_along(taps) - 9
    inside <- at >= 0 & at < ncol(values)
    design[at[inside] + 1, j] <- taps[inside]
  }
  inner <- vapply(0:3, function(shift) sum(taps[seq_len(length(taps) - 4 * shift)] * taps[(4 * shift + 1):length(taps)]), 0)
  gram <- matrix(0, nodes, nodes)
  for (shift in 0:3) gram[abs(row(gram) - col(gram)) == shift] <- inner[shift + 1]
  steps <- seq(0, 1, length.out = ncol(values))
  first <- values[, 1]
  rise <- values[, ncol(values)] - first
  rest <- values - first - outer(rise, steps)
  found <- t(solve(gram, t(rest %*% design))) + first + outer(rise, seq(0, 1, length.out = nodes))
  found[, 9:(8 + cells + 3), drop = FALSE]
}
