# Completion of acraft for bash. The program says what there is: `acraft --help=words` lists its
# commands, `acraft COMMAND --help=words` the options, with = behind those that take a value.
_acraft() {
    local word=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} words
    if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "${COMP_WORDS[1]}" = help ]; }; then
        words=$("$program" --help=words 2>/dev/null)
    elif [[ $word == -* ]]; then
        words=$("$program" "${COMP_WORDS[1]}" --help=words 2>/dev/null | tr -d =)
    else
        compopt -o default
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _acraft acraft
