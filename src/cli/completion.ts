import { flagOf } from '../config.ts'
import { described, flagsOf as flagsOfApi, nounRows } from './api/api-help.ts'
import { allSettings, type Flag, settingFlags, takesValue } from './command.ts'
import { commands, commonFlags, nouns, verbsOf } from './commands.ts'

type Shell = 'bash' | 'zsh' | 'fish'

/** The possible continuations after some words of a command line. */
interface Place {
  /** The words without flags: `account create`. */
  readonly path: string
  /** Each with its description. */
  readonly words: readonly (readonly [word: string, about: string])[]
  /** Names without dashes. */
  readonly flags: Readonly<Record<string, Flag>>
}

/**
 * Returns the command `stead completion <shell>`, which prints a script. So a key press does not start a process of
 * Stead.
 */
export const printFor = (shell: Shell) => async (): Promise<void> => console.log(completionScript(shell))

export function completionScript(shell: Shell): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](places())
}

/** Settings whose value is a file or folder. */
const takeFiles = ['dataDir', 'coreSource'] as const
const fileFlags = [...takeFiles.map(flagOf), '--input', '--output', '--client-secret-file']

function places(): Place[] {
  const first = new Map<string, string>()
  for (const { name, about } of commands) {
    const [word = ''] = name.split(' ')
    first.set(word, nouns[word] ?? about)
  }
  const all = commands.map(({ name, flags, settings }): Place => {
    return { path: name, words: verbsOf(name), flags: { ...flags, ...commonFlags, ...settingFlags(settings) } }
  })
  const bare = Object.keys(nouns).filter((noun) => !commands.some(({ name }) => name === noun))
  const ofNouns = bare.map((noun): Place => ({ path: noun, words: verbsOf(noun), flags: commonFlags }))
  const topics = Object.keys(nouns).map(
    (noun): Place => ({ path: `help ${noun}`, words: verbsOf(noun), flags: commonFlags }),
  )
  const ofApi = placesOfApi()
  for (const [line, about] of nounRows()) first.set(line.replace('stead ', ''), about)
  const help = all.find(({ path }) => path === 'help') as Place
  return [
    { path: '', words: [...first], flags: { ...commonFlags, ...settingFlags(allSettings) } },
    ...all.filter((place) => place !== help),
    ...ofNouns,
    ...ofApi,
    { ...help, words: [...first, ['settings', 'all settings']] },
    ...topics,
    ...ofApi
      .filter(({ words }) => words.length > 0)
      .map((place) => ({ ...place, path: `help ${place.path}`, flags: commonFlags })),
  ]
}

/** Returns the API commands, and their nouns. */
function placesOfApi(): Place[] {
  const all = described()
  const verbsOf = (noun: string) =>
    all.flatMap(({ name, about }) =>
      name.startsWith(`${noun} `) ? [[name.slice(noun.length + 1), about] as const] : [],
    )
  const commands = all.map((each): Place => ({ path: each.name, words: verbsOf(each.name), flags: flagsOfApi(each) }))
  const names = new Set(commands.map(({ path }) => path))
  const nouns = [...new Set(all.map(({ name }) => name.split(' ')[0] as string))].filter((noun) => !names.has(noun))
  return [...commands, ...nouns.map((noun): Place => ({ path: noun, words: verbsOf(noun), flags: commonFlags }))]
}

/**
 * Returns every flag with a value, of any command, and its possible values. They are empty if they differ between
 * commands.
 */
function valuedFlags(all: readonly Place[]): ReadonlyMap<string, readonly string[]> {
  const flags = all.flatMap((place) => Object.entries(place.flags)).filter(([, flag]) => takesValue(flag))
  const found = new Map<string, readonly string[]>()
  for (const [name, { choices = [] }] of flags) {
    const known = found.get(`--${name}`) ?? choices
    found.set(`--${name}`, known.join() === choices.join() ? choices : [])
  }
  return found
}

/** Returns code for bash and zsh that sets `flag` and `place` from a word before the current one. */
const takeWord = (valued: Iterable<string>): string => `    case $word in
      -*=*) ;;
      ${[...valued].join('|')}) flag=$word ;;
      -*) ;;
      # a noun and a verb; what follows names things
      *) if [[ $place != *' '* ]]; then place+="\${place:+ }$word"; fi ;;
    esac`

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const list = (texts: readonly string[]): string => texts.map(quoted).join(' ')
const flagsOf = ({ flags }: Place, withValue: boolean): string[] =>
  Object.entries(flags).flatMap(([name, flag]) => (takesValue(flag) === withValue ? [`--${name}`] : []))

function bashScript(all: readonly Place[]): string {
  const valued = valuedFlags(all)
  const choices = [...valued].filter(([, values]) => values.length > 0)
  return `# bash completion of Stead
_stead() {
  local current=\${COMP_WORDS[COMP_CWORD]} flag='' place='' word i
  local -a candidates=() words=() flags=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # bash takes a word apart at these
    if [[ $word =~ ^[=:@]+$ ]]; then flag=\${flag:-$word}; continue; fi
    if [[ -n $flag ]]; then flag=''; continue; fi
${takeWord(valued.keys())}
  done
  if [[ $current == = ]]; then current=''; fi
  COMPREPLY=()
  case $flag in
${choices.map(([name, values]) => `    ${name}) candidates=(${list(values)}) ;;`).join('\n')}
    ${fileFlags.join('|')})
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
      return ;;
    ?*) return ;;
    *)
      case $place in
${all
  .map((place) => {
    const flags = list([...flagsOf(place, false), ...flagsOf(place, true).map((name) => `${name}=`)])
    return `        ${quoted(place.path)}) words=(${list(place.words.map(([word]) => word))}); flags=(${flags}) ;;`
  })
  .join('\n')}
      esac
      if [[ $current == -* || \${#words[@]} == 0 ]]; then candidates=("\${flags[@]}"); else candidates=("\${words[@]}"); fi ;;
  esac
  for word in "\${candidates[@]}"; do
    if [[ $word == "$current"* ]]; then COMPREPLY+=("$(printf %q "$word")"); fi
  done
  if [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _stead stead`
}

function zshScript(all: readonly Place[]): string {
  const valued = valuedFlags(all)
  const choices = [...valued].filter(([, values]) => values.length > 0)
  return `#compdef stead
# zsh completion of Stead
_stead() {
  local current=\${words[CURRENT]} flag='' place='' word i
  local -a candidates
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $flag ]]; then flag=''; continue; fi
${takeWord(valued.keys())}
  done
  if [[ -z $flag && $current == --*=* ]]; then flag=\${current%%=*}; compset -P '*='; fi
  case $flag in
${choices.map(([name, values]) => `    ${name}) compadd -- ${list(values)}; return ;;`).join('\n')}
    ${fileFlags.join('|')}) _files; return ;;
    ?*) return 1 ;;
  esac
  case $place in
${all
  .map((place) => {
    const words = place.words.map(([word, about]) => `${word}:${about}`)
    const lines = [
      words.length > 0 &&
        `[[ $current != -* ]] && { candidates=(${list(words)}); _describe -t commands command candidates; return; }`,
      `compadd -- ${list(flagsOf(place, false))}`,
      flagsOf(place, true).length > 0 && `compadd -S = -- ${list(flagsOf(place, true))}`,
    ]
    return `    ${quoted(place.path)})\n${lines.flatMap((line) => (line ? [`      ${line}\n`] : [])).join('')}      ;;`
  })
  .join('\n')}
  esac
}
if [[ $funcstack[1] == _stead ]]; then _stead "$@"; else compdef _stead stead; fi`
}

function fishScript(all: readonly Place[]): string {
  const fishQuoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = all.flatMap(({ path, words, flags }) => {
    const at = `complete -c stead -n ${fishQuoted(`__stead_at ${fishQuoted(path)}`)}`
    return [
      ...words.map(([word, about]) => `${at} -a ${word} -d ${fishQuoted(about)}`),
      ...Object.entries(flags).map(([name, flag]) => {
        const value = flag.choices
          ? ` -x -a ${fishQuoted(flag.choices.map(fishQuoted).join(' '))}`
          : takesValue(flag)
            ? ' -x'
            : ''
        return `${at} -l ${name}${flag.short ? ` -s ${flag.short}` : ''}${fileFlags.includes(`--${name}`) ? ' -r -F' : value} -d ${fishQuoted(flag.help)}`
      }),
    ]
  })
  return `# fish completion of Stead
function __stead_at
    set -l place
    set -l isValue 0
    for word in (commandline -opc)[2..-1]
        if test $isValue = 1
            set isValue 0
            continue
        end
        switch $word
            case '-*=*'
            case ${[...valuedFlags(all).keys()].join(' ')}
                set isValue 1
            case '-*'
            case '*'
                # a noun and a verb; what follows names things
                if test (count $place) -lt 2
                    set -a place $word
                end
        end
    end
    test "$place" = "$argv[1]"
end
complete -c stead -f
${lines.join('\n')}`
}
