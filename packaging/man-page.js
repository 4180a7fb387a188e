/**
 * Writes the manual page of the command from its own help, in the macros of man(7).
 */

/** @typedef {{ name: string, about: string, flags: Record<string, Flag>, settings?: string[] }} Command As `stead help --json` prints it. */
/** @typedef {{ help: string, value?: string, choices?: string[], short?: string, needed?: boolean }} Flag */
/** @typedef {{ name: string, flag: string, help: string, default: string, testOnly: boolean }} Setting As `stead help settings --json` prints it. */

/**
 * @param {object} facts
 * @param {string} facts.version
 * @param {Date} facts.date of the source
 * @param {string} facts.overview as `stead help` prints it
 * @param {readonly Command[]} facts.commands
 * @param {readonly Setting[]} facts.settings
 * @returns {string}
 */
export function manPage({ version, date, overview, commands, settings }) {
  const [title = '', purpose = ''] = (overview.split('\n')[0] ?? '').split(': ')
  const ofOperators = commands.filter((each) => each.settings !== undefined)
  const ofApi = commands.filter((each) => each.settings === undefined)
  const common = /** @type {Command} */ (ofOperators.find(({ name }) => name === 'help')).flags
  const heads = overview.split('\n').filter((line) => /^\S.*:$/.test(line))
  const exit = overview.slice(overview.indexOf('Exit codes:')).replace('Exit codes: ', '').split('\n')
  return [
    `.TH STEAD 1 "${date.toISOString().slice(0, 10)}" "${title.replace(/ .*/, '')} ${version}" "User Commands"`,
    // Names of settings are too long for lines of equal width.
    '.ad l',
    '.SH NAME',
    `stead \\- ${escaped(purpose)}`,
    '.SH SYNOPSIS',
    '.B stead',
    '.I COMMAND',
    '[\\fIFLAG\\fR...]',
    '.SH OPERATOR COMMANDS',
    text(heads[0] ?? ''),
    ...ofOperators.flatMap((each) => [...entry(`stead ${each.name}`, each.about), ...flagsOf(each.flags)]),
    '.SH API COMMANDS',
    text(heads[1] ?? ''),
    ...ofApi.flatMap(({ name, about }) => entry(`stead ${name}`, about)),
    '.SH OPTIONS',
    ...Object.entries(common).flatMap(([name, flag]) => entry(formOf(name, flag), flag.help)),
    '.SH ENVIRONMENT',
    ...settings.flatMap((each) => entry(each.default ? `${each.name}=${each.default}` : each.name, each.help)),
    '.SH EXIT STATUS',
    ...exit.map(text),
    '',
  ].join('\n')
}

/** @param {Record<string, Flag>} flags of a command */
function flagsOf(flags) {
  const rows = Object.entries(flags)
  if (rows.length === 0) return []
  return ['.RS', ...rows.flatMap(([name, flag]) => entry(formOf(name, flag), flag.help)), '.RE']
}

/**
 * @param {string} name
 * @param {Flag} flag
 */
function formOf(name, { value, choices, short }) {
  const given = value ?? choices?.join('|')
  return `--${name}${given === undefined ? '' : `=${given}`}${short === undefined ? '' : `, -${short}`}`
}

/**
 * @param {string} term
 * @param {string} about
 */
const entry = (term, about) => ['.TP', `.B ${escaped(term)}`, text(about)]

/** @param {string} line */
const text = (line) => escaped(line).replace(/^(?=[.'])/, '\\&')

/** @param {string} words */
const escaped = (words) => words.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/\s+/g, ' ')
