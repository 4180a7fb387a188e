import { ConfigError, printableSettings } from '../config.ts'
import { version } from '../version.ts'
import type { CommandCall } from './arguments.ts'
import { type CommandUsage, commandUsages, commonFlags, type FlagUsage, type Usage } from './commands.ts'

/** `stead help`, `stead help <command>`, `stead help settings` */
export async function run({ words, flags }: Pick<CommandCall, 'words' | 'flags'>): Promise<number> {
  const [topic] = words[0] === 'help' ? words.slice(1) : words
  if (topic === 'settings')
    console.log(flags.json ? asJson(printableSettings()) : settingsText(flags.markdown === true))
  else if (topic === undefined) console.log(flags.json ? asJson(commandUsages) : overview())
  else if (Object.hasOwn(commandUsages, topic)) {
    const usage = commandUsages[topic] as CommandUsage
    console.log(flags.json ? asJson(usage) : commandText(topic, usage))
  } else throw new ConfigError(`${topic} is no command of Stead. See: stead help`)
  return 0
}

const asJson = (value: unknown): string => JSON.stringify(value, null, 2)

function overview(): string {
  const rows = Object.entries(commandUsages).flatMap(([name, { about, verbs, runsAlone }]): [string, string][] => {
    const words = Object.keys(verbs ?? {}).join('|')
    if (!verbs) return [[`stead ${name}`, about]]
    return runsAlone
      ? [
          [`stead ${name}`, about],
          [`stead ${name} ${words}`, Object.values(verbs)[0]?.about ?? ''],
        ]
      : [[`stead ${name} ${words}`, about]]
  })
  return `Stead ${version}: a control plane for WordPress sites

${table(rows)}

${table(flagRows(commonFlags))}
  Every setting is an environment variable or a flag: stead help settings

Exit codes: 0 done, 1 a failure of Stead, 2 a command or setting that cannot be used (the reason is on standard error).`
}

function commandText(name: string, { about, flags, verbs, runsAlone }: CommandUsage): string {
  const ofVerbs = Object.entries(verbs ?? {}).map(([verb, usage]) => usageText(`stead ${name} ${verb}`, usage))
  const parts = verbs && !runsAlone ? ofVerbs : [usageText(`stead ${name}`, { about, flags }), ...ofVerbs]
  return `${parts.join('\n\n')}\n\n${table(flagRows(commonFlags))}`
}

function usageText(call: string, { about, flags = {} }: Usage): string {
  const needed = Object.entries(flags).filter(([, flag]) => flag.needed)
  const line = [call, ...needed.map(([name, { value }]) => `${name}=${value}`)].join(' ')
  const rows = flagRows(flags)
  return `${line}\n  ${about}${rows.length > 0 ? `\n${table(rows)}` : ''}`
}

const flagRows = (flags: Readonly<Record<string, FlagUsage>>): [string, string][] =>
  Object.entries(flags).map(([name, { value, help, needed }]) => [
    value ? `${name}=${value}` : name,
    needed ? `${help} (needed)` : help,
  ])

function table(rows: readonly [string, string][]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}

/** @param asPage the table that is docs/settings.md */
function settingsText(asPage: boolean): string {
  const settings = printableSettings()
  if (!asPage)
    return settings
      .map(({ name, flag, help, default: usual }) => `${name}${usual ? `=${usual}` : ''}\n  ${flag}  ${help}`)
      .join('\n')
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
  const rows = settings.map(
    ({ name, help, default: usual, testOnly }) =>
      `| \`${name}\` | ${usual ? `\`${usual}\`` : ''} | ${cell(help)}${testOnly ? ' (for tests only: each start warns of it)' : ''} |`,
  )
  return `# Settings

Each setting is an environment variable, or a flag of the same name: \`STEAD_API_LISTEN\` is \`--api-listen\`. A flag wins.
\`stead config\` prints what is in force. A value that cannot be used, or a \`STEAD_\` variable that does not exist, ends the
start with the setting and the reason. This page is made by \`npm run docs:settings\`.

| variable | default | meaning |
|---|---|---|
${rows.join('\n')}`
}
