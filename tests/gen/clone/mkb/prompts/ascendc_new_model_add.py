# answer add
