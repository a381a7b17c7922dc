// The completion scripts of the shells. A script passes the command line to `quartermaster __complete` and reads its output:
// `value TAB description` per line, or a single `:` for file names. candidates.ts computes the output.

/** Scripts by the name of the shell. */
export const SCRIPTS = {
  // Readline replaces only the text after its last word break ($2), so the part of an address or --option=value before it is cut.
  bash: `# Completion of quartermaster for bash.
_quartermaster() {
  local kept value word words
  IFS=$' \\t\\n' read -a words <<<"\${COMP_LINE:0:COMP_POINT}x"
  word=\${words[-1]%x}
  words[-1]=$word
  kept=\${word%"$2"}
  if [[ -n $2 && $kept == "$word" ]]; then kept=; fi
  COMPREPLY=()
  while IFS=$'\\t' read -r value _; do
    if [[ $value == : ]]; then compopt -o default; continue; fi
    printf -v value %q "\${value#"$kept"}"
    COMPREPLY+=("$value")
  done < <("$1" __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _quartermaster quartermaster
`,
  // As a file in $fpath the script runs as the function itself; when sourced, it only defines the function.
  zsh: `#compdef quartermaster
# Completion of quartermaster for zsh.
_quartermaster() {
  local line
  local -a found
  for line in "\${(@f)$("\${words[1]}" __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}"; do
    if [[ $line == : ]]; then
      _files
    elif [[ -n $line ]]; then
      found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done
  _describe quartermaster found
}
if [[ $funcstack[1] == _quartermaster ]]; then _quartermaster "$@"; else compdef _quartermaster quartermaster; fi
`,
  fish: `# Completion of quartermaster for fish.
function __quartermaster_complete
    set -l words (commandline -opc) "$(commandline -ct)"
    for line in ($words[1] __complete -- $words[2..-1] 2>/dev/null)
        if test "$line" = :
            __fish_complete_path (commandline -ct)
        else
            printf '%s\\n' $line
        end
    end
end
complete -c quartermaster -f -a '(__quartermaster_complete)'
`,
} as const;
