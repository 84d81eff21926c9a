[(rule) (facts) (query) (declaration)] @fold
