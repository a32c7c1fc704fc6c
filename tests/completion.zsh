# What zsh makes of a word when Tab is typed, on a terminal of its own; for tests/install.
#
#   zsh -f tests/completion.zsh FUNCTIONS BIN TYPED WANTED      0: the line then has WANTED in it
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT='> '; fpath=($1 \$fpath); path=($2 \$path); autoload -Uz compinit; compinit -D; print re''ady"
zpty -r shell got '*ready*'
zpty -n -w shell "$3"$'\t'
got=
for try in {1..60}; do
    while zpty -r -t shell part; do got+=$part; done
    [[ $got == *$4* ]] && break
    sleep 0.5
done
zpty -d shell
print -r -- "$got"
[[ $got == *$4* ]]
