import { printableSettings, variableOf } from '../config.ts'
import { closest } from '../platform/closest.ts'
import { version } from '../version.ts'
import { allSettings, type Call, type Command, type Flag } from './command.ts'
import { commands, commonFlags, nouns, verbsOf } from './commands.ts'
import { UsageError } from './usage-error.ts'

/** Runs `stead help`, `stead help <command>`, and `stead help settings`. */
export async function print({ words, flags }: Pick<Call<{ markdown: boolean }>, 'words' | 'flags'>): Promise<void> {
  const topic = words.join(' ')
  if (topic === 'settings') console.log(flags.json ? asJson(printableSettings()) : settingsText(flags.markdown))
  else if (topic === '') {
    const { described: ofApi, flagsOf, nounRows } = await import('./api/api-help.ts')
    const all = [...commands.map(described), ...ofApi().map((each) => ({ ...pick(each), flags: flagsOf(each) }))]
    console.log(flags.json ? asJson(all) : overview(nounRows()))
  } else if ((await import('./api/main.ts')).isApiNoun(words[0] as string)) {
    const { printHelp } = await import('./api/api-help.ts')
    if (!printHelp(topic, process.stdout)) throw await unknownTopic(topic)
  } else {
    const about = commands.filter(({ name }) => name === topic || name.startsWith(`${topic} `))
    if (about.length === 0) throw await unknownTopic(topic)
    console.log(flags.json ? asJson(about.map(described)) : commandsText(about))
  }
}

const asJson = (value: unknown): string => JSON.stringify(value, null, 2)

const described = ({ name, about, flags, settings }: Command) => ({
  name,
  about,
  flags,
  settings: settings.map(variableOf),
})

const pick = ({ name, about, calls }: { name: string; about: string; calls: string | undefined }) => ({
  name,
  about,
  calls,
})

/** Suggests the closest name of a command, a noun, or a topic. */
async function unknownTopic(topic: string): Promise<UsageError> {
  const ofApi = (await import('./api/main.ts')).allNames()
  const nounsOfApi = ofApi.map((name) => name.split(' ')[0] as string)
  const own = [...Object.keys(nouns), ...commands.map(({ name }) => name), 'settings']
  const near = closest(topic, [...own, ...nounsOfApi, ...ofApi])
  return new UsageError(`Unknown command "${topic}". See: stead help`, near && `stead help ${near}`)
}

/** @param ofApi the API commands */
function overview(ofApi: readonly [string, string][]): string {
  const rows = commands.flatMap(({ name, about }): [string, string][] => {
    const [noun = '', verb] = name.split(' ')
    if (verb === undefined) return [[`stead ${name}`, about]]
    const verbs = verbsOf(noun).map(([each]) => each)
    // One row per noun, at the place of its first verb.
    return verb === verbs[0] ? [[`stead ${noun} ${verbs.join('|')}`, nouns[noun] as string]] : []
  })
  return `Stead ${version}: a control plane for WordPress sites

Operator commands, which use the data folder:
${table(rows)}

API commands, which use API credentials (example: stead help sites):
${table(ofApi)}

${table(flagRows(commonFlags))}
  Each setting is an environment variable or a flag: stead help settings

Exit codes: 0 success, 1 an error of Stead or of the API, 2 an invalid command or setting, 4 credentials that the API does not accept.
The reason is on standard error.`
}

const commandsText = (about: readonly Command[]): string =>
  `${about.map(commandText).join('\n\n')}\n\n${table(flagRows(commonFlags))}`

function commandText({ name, about, flags, settings, takesTopic }: Command): string {
  const needed = Object.entries(flags).filter(([, flag]) => flag.needed)
  const words = takesTopic ? ['[COMMAND|settings]'] : []
  const lines = [
    ['stead', name, ...words, ...needed.map(([flag, usage]) => describeFlag(flag, usage))].join(' '),
    `  ${about}`,
  ]
  const rows = flagRows(flags)
  if (rows.length > 0) lines.push(table(rows))
  if (settings.length > 0) {
    const all = settings.length === allSettings.length
    lines.push(`  Settings: ${all ? 'all (see: stead help settings)' : settings.map(variableOf).join(', ')}`)
  }
  return lines.join('\n')
}

const describeFlag = (name: string, { value, choices }: Flag): string => {
  const text = value ?? choices?.map((choice) => (choice.includes(' ') ? `"${choice}"` : choice)).join('|')
  return text === undefined ? `--${name}` : `--${name}=${text}`
}

/** Returns the flags of a command, with their form and their help. */
export const flagRows = (flags: Readonly<Record<string, Flag>>): [string, string][] =>
  Object.entries(flags).map(([name, flag]) => [
    `${describeFlag(name, flag)}${flag.short ? `, -${flag.short}` : ''}`,
    flag.needed ? `${flag.help} (needed)` : flag.help,
  ])

function table(rows: readonly [string, string][]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}

/** @param asPage whether to return the table of docs/settings.md */
function settingsText(asPage: boolean): string {
  const settings = printableSettings()
  if (!asPage)
    return settings
      .map(({ name, flag, help, default: usual }) => `${name}${usual ? `=${usual}` : ''}\n  ${flag}  ${help}`)
      .join('\n')
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
  const rows = settings.map(
    ({ name, help, default: usual, testOnly }) =>
      `| \`${name}\` | ${usual ? `\`${usual}\`` : ''} | ${cell(help)}${testOnly ? ' (for tests only; Stead warns about it at each start)' : ''} |`,
  )
  return `# Settings

Each setting is an environment variable or a flag of the same name: \`STEAD_API_LISTEN\` is
\`--api-listen\`. A flag overrides a variable. \`stead config\` prints the current settings.

If a value is invalid, or a \`STEAD_\` variable does not exist, Stead does not start, and names the
setting and the reason. \`npm run docs:settings\` writes this page.

| Variable | Default | Meaning |
|---|---|---|
${rows.join('\n')}`
}
