[(rule) (facts) (query) (declaration) (arguments)] @indent.begin
