import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, readFile, stat } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Config, ConfigError, flagOf, readConfig, settings, variableOf } from '../../config.ts'
import { identityFile } from '../../hosting/identity/folder.ts'
import { isPublicAddress } from '../../platform/fetch/addresses.ts'
import { usableFolder } from '../../platform/files/usable-folder.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import type { InstallationCheck } from '../../resources/installation/installation-check.ts'
import type { Check } from '../../roles/checks/check.ts'
import { runChecks } from '../../roles/checks/run-checks.ts'
import { credentialsFile, readCredentials } from '../../roles/credentials.ts'
import { untilReady } from '../../roles/start/banner.ts'
import { ask } from '../api/ask.ts'
import type { Call } from '../command.ts'
import { CommandError } from '../output.ts'
import { type Details, type Question, type QuestionFlag, questions } from './questions.ts'
import { runServiceAsRoot } from './root-service.ts'
import {
  changeSettingsText,
  readSettingsText,
  type SettingChanges,
  type SettingTexts,
  writeSettingsFile,
} from './settings-file.ts'

export type SetupFlags = Readonly<Record<QuestionFlag | 'panel-name' | 'address' | 'file', string | undefined>> & {
  readonly 'agree-to-terms': boolean
  readonly unchecked: boolean
  readonly restart: boolean
}

/** Everything outside the settings file that a setup uses. */
export interface SetupSurroundings {
  /** Asks the person at the terminal. `undefined` without a terminal. */
  readonly ask: ((question: string, isSecret: boolean) => Promise<string>) | undefined
  say(text: string): void
  check(config: Config, list: readonly Check[]): Promise<readonly InstallationCheck[]>
  /** Returns the public addresses of this server. */
  addresses(): readonly string[]
  /** Restarts the service of the package, and waits until it is ready. `undefined` where systemd runs no services. */
  readonly restart: ((config: Config) => Promise<void>) | undefined
  /** Lets the service of the package run as root. `undefined` where systemd runs no services. */
  readonly runAsRoot: ((folders: readonly string[]) => Promise<void>) | undefined
  /** Runs `stead doctor` with the settings. @returns its exit code */
  doctor(values: SettingTexts): Promise<number>
}

/** A first start downloads WordPress. */
const READY_MS = 300_000
const LOOK_MS = 1000
const PACKAGE_FILE = '/etc/stead/stead.env'
const TERMS = 'https://letsencrypt.org/repository/'

/** Runs `stead setup`. */
export async function setUp({ flags, given, environment }: Call<SetupFlags>): Promise<number> {
  const isInteractive = process.stdin.isTTY === true && process.stderr.isTTY === true
  return runSetup(flags, given, {
    ask: isInteractive ? (question, isSecret) => ask(question, { isSecret }) : undefined,
    say: (text) => console.error(text),
    check: (config, list) =>
      runChecks(
        { config, records: { kind: 'none', why: '' }, running: 'stopped', asksOutside: true, now: Date.now },
        { list },
      ),
    addresses: () =>
      Object.values(networkInterfaces())
        .flatMap((all) => all ?? [])
        .flatMap(({ address }) => (isPublicAddress(address) ? [address] : [])),
    ...(existsSync('/run/systemd/system') && flags.file === undefined
      ? { restart: restartService, runAsRoot: runServiceAsRoot }
      : { restart: undefined, runAsRoot: undefined }),
    doctor: (values) => runDoctor(values, environment),
  })
}

/**
 * Answers the questions by flags, by the settings file, or by asking, and writes the file if an answer changes it.
 * @param given setting flags of the command line, such as `--backup-s3-endpoint=…`
 * @returns the exit code of the doctor
 * @throws CommandError when an answer is missing or refused, without a terminal
 */
export async function runSetup(
  flags: SetupFlags,
  given: readonly string[],
  surroundings: SetupSurroundings,
): Promise<number> {
  const file = flags.file ?? PACKAGE_FILE
  const text = await textOf(file)
  const before = readSettingsText(text)
  configOf(before, file)
  const setup = new Setup(flags, given, before, surroundings)
  setup.requireAnswers()
  for (const question of questions) await setup.answer(question)
  const next = changeSettingsText(text, setup.changes)
  surroundings.say('')
  if (next === text) surroundings.say(`Nothing changed in ${file}.`)
  else {
    // Settings come last: as long as they are not written, another run does all of it.
    await setup.allowNative()
    await writeSettingsFile(file, next)
    surroundings.say(`Wrote ${file}: ${Object.keys(setup.changes).join(', ')}`)
    surroundings.say(recordsToCreate(setup.values))
    await setup.restart(readConfig(setup.values))
  }
  return surroundings.doctor(setup.values)
}

/** Why an answer is refused. */
interface Refusal {
  readonly text: string
  /** What the answer would change, if only a check refuses it. */
  readonly changes?: SettingChanges
}

/** Answers the questions one after the other. */
class Setup {
  values: SettingTexts
  readonly #before: SettingTexts
  readonly changes: Record<string, string | undefined> = {}
  readonly #flags: SetupFlags
  readonly #given: ReadonlyMap<string, string>
  readonly #around: SetupSurroundings

  constructor(flags: SetupFlags, given: readonly string[], values: SettingTexts, around: SetupSurroundings) {
    this.#flags = flags
    this.#given = new Map(given.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]))
    this.values = values
    this.#before = values
    this.#around = around
  }

  /** @throws CommandError naming the flags of all missing answers, without a terminal */
  requireAnswers(): void {
    if (this.#around.ask) return
    const missing = questions.filter(
      (question) => this.#flags[question.flag] === undefined && question.current(this.values) === undefined,
    )
    if (missing.length === 0) return
    const lines = missing.map(({ flag, text }) => `  --${flag}=…  ${text}`)
    throw new CommandError(`Run stead setup on a terminal, or answer with these flags:\n${lines.join('\n')}`)
  }

  async answer(question: Question): Promise<void> {
    const flag = this.#flags[question.flag]
    if (flag !== undefined) {
      const fault = await this.#take(question, flag, this.#flags.unchecked)
      if (fault !== undefined) throw new CommandError(`--${question.flag}: ${fault.text}`)
      return
    }
    if (!this.#around.ask) return
    const current = question.current(this.#before)
    this.#around.say(`\n${question.about}`)
    for (;;) {
      const offered = current ?? question.usual(this.values)
      const typed = await this.#ask(
        `${question.text}${offered === undefined ? '' : ` [${withoutPassword(offered)}]`}: `,
      )
      const answer = typed || offered
      if (answer !== undefined && answer === current) return
      const fault: Refusal | undefined =
        answer === undefined ? { text: 'An answer is required.' } : await this.#take(question, answer, false)
      if (fault === undefined) return
      this.#around.say(fault.text)
      if (fault.changes && (await this.#agrees('Use it nevertheless?'))) return this.#apply(fault.changes)
    }
  }

  async #take(question: Question, answer: string, isUnchecked: boolean): Promise<Refusal | undefined> {
    let changes: SettingChanges
    let config: Config
    try {
      changes = await question.changes(answer.trim(), this.values, this.#details())
      config = readConfig(changed(this.values, changes))
    } catch (error) {
      if (error instanceof CommandError) throw error
      return { text: error instanceof ConfigError ? error.message : `This ${(error as Error).message}.` }
    }
    const fault = isUnchecked ? undefined : await this.#faultOf(question, answer, config)
    if (fault !== undefined) return { text: fault, changes }
    this.#apply(changes)
    return undefined
  }

  /** Lets a service that has a user of its own run as root, if sites are to have native PHP. */
  async allowNative(): Promise<void> {
    const { runtime, dataDir, backupDir } = readConfig(this.values)
    if (runtime === 'wasm' || !(await ownerWithoutRoot(dataDir))) return
    const hasBackups = backupDir !== undefined && existsSync(backupDir)
    await this.#around.runAsRoot?.([dataDir, ...(hasBackups ? [backupDir] : [])])
    this.#around.say('The service runs as root from its next start, because native PHP needs it.')
  }

  /** Restarts Stead if the person or a flag wants it, and says how to sign in. */
  async restart(config: Config): Promise<void> {
    const { restart, ask: person, say } = this.#around
    const isWanted =
      restart !== undefined && (this.#flags.restart || (await this.#agrees('Restart Stead now, with these settings?')))
    const how = this.#flags.file === undefined ? ': systemctl restart stead' : '.'
    if (!isWanted) return say(`Start Stead with these settings${how}\n`)
    say('Waiting until Stead is ready.')
    await restart(config)
    const credentials = await readCredentials(config.dataDir)
    if (credentials === undefined) return
    const { account_email: email, panel_link: link } = credentials
    const file = credentialsFile(config.dataDir)
    if (link !== undefined)
      say(`Set the password of the control panel once: ${person ? link : `panel_link in ${file}`}`)
    if (email !== config.accountEmail)
      say(
        `The first account is ${email}, as before. To add another, run stead account create --email=${config.accountEmail}`,
      )
    say('')
  }

  #apply(changes: SettingChanges): void {
    for (const [name, value] of Object.entries(changes)) if (this.values[name] !== value) this.changes[name] = value
    this.values = changed(this.values, changes)
  }

  async #faultOf(question: Question, answer: string, config: Config): Promise<string | undefined> {
    if (question.flag === 'backups' && config.backupDir !== undefined) {
      const fault = await prepareFolder(config.backupDir, config.dataDir)
      if (fault !== undefined) return fault
    }
    if (question.flag === 'php' && answer === 'native' && (await ownerWithoutRoot(config.dataDir))) {
      if (!this.#around.runAsRoot)
        return `Native PHP needs a Stead that runs as root, and ${config.dataDir} belongs to another user. Choose wasm.`
      if (existsSync(identityFile(config.dataDir)))
        return `Native PHP needs a Stead that runs as root, and the files in ${config.dataDir} belong to another user. Choose wasm, or set up an empty data folder.`
    }
    const found = await this.#around.check(config, question.checks(answer))
    const refused = found.filter(({ state }) => state === 'problem' || (question.isStrict && state === 'warning'))
    if (refused.length === 0) return undefined
    return refused.map(({ text, remedy }) => `${text}${remedy === null ? '' : ` ${remedy}`}`).join('\n')
  }

  #details(): Details {
    return {
      setting: async (key, question, isSecret = false) => {
        const flag = this.#given.get(flagOf(key))
        if (flag !== undefined) return flag
        const current = this.values[variableOf(key)] ?? ''
        if (!this.#around.ask) return current
        const offered = current && ` [${isSecret ? 'unchanged' : current}]`
        return (await this.#ask(`${question}${offered}: `, isSecret)) || current
      },
      addresses: async () => {
        const known = this.#flags.address ?? this.#around.addresses().join(',')
        if (known) return known
        if (this.values.STEAD_EDGE_ADDRESSES !== undefined) return this.values.STEAD_EDGE_ADDRESSES
        if (!this.#around.ask)
          throw new CommandError('--address=… is required: this server has no public address itself.')
        return this.#ask('Public IP address of this server: ')
      },
      panelName: async (usual) => {
        const flag = this.#flags['panel-name']
        if (flag !== undefined || !this.#around.ask) return flag ?? usual
        return (await this.#ask(`Name of the control panel [${usual}]: `)) || usual
      },
      agreesToTerms: async () => {
        if (this.#flags['agree-to-terms']) return true
        const isAgreed = await this.#agrees(`Do you agree to the terms of Let's Encrypt (${TERMS})?`)
        if (!isAgreed) this.#around.say('Stead requests no certificates until you set STEAD_ACME_TERMS_AGREED=true.')
        return isAgreed
      },
    }
  }

  async #ask(question: string, isSecret = false): Promise<string> {
    return (await this.#around.ask?.(question, isSecret))?.trim() ?? ''
  }

  async #agrees(question: string): Promise<boolean> {
    return this.#around.ask !== undefined && /^y(es)?$/i.test(await this.#ask(`${question} yes or no [no]: `))
  }
}

/** @throws CommandError when the folder of the file does not exist */
async function textOf(file: string): Promise<string> {
  if (!existsSync(dirname(file)))
    throw new CommandError(`The folder ${dirname(file)} does not exist. Name another settings file with --file=FILE.`)
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw new CommandError(`${file} cannot be read (${error.code}). Run stead setup as root.`)
  })
}

/** @throws CommandError when the file has invalid settings, which no answer can correct */
function configOf(values: SettingTexts, file: string): Config {
  try {
    return readConfig(values)
  } catch (error) {
    throw new CommandError(`Correct ${file} first: ${(error as Error).message}`, { cause: error })
  }
}

function changed(values: SettingTexts, changes: SettingChanges): SettingTexts {
  const all = Object.entries({ ...values, ...changes })
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

const withoutPassword = (answer: string): string => answer.replace(/^(\w+:\/\/[^:@/]*:)[^@]*@/, '$1…@')

/** Returns the owner of the data folder, as whom the service runs, if this is root's setup for another user. */
async function ownerWithoutRoot(dataDir: string): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const owner = await stat(dataDir).catch(() => undefined)
  return owner?.uid === 0 ? undefined : owner
}

/** Creates the folder of backups for the user that Stead runs as. @returns why it cannot be used */
async function prepareFolder(folder: string, dataDir: string): Promise<string | undefined> {
  try {
    const isNew = !existsSync(folder)
    await usableFolder(folder, 0o700, variableOf('backupDir'))
    const owner = await ownerWithoutRoot(dataDir)
    if (!owner) return undefined
    if (isNew) await chown(folder, owner.uid, owner.gid)
    const { uid } = await stat(folder)
    if (uid === owner.uid) return undefined
    return `${folder} belongs to another user than ${dataDir}. Run chown --reference=${dataDir} ${folder}`
  } catch (error) {
    if (error instanceof OperatorError) return error.message
    throw error
  }
}

function recordsToCreate({ STEAD_STAGING_DOMAIN: domain, ...values }: SettingTexts): string {
  const { STEAD_EDGE_ADDRESSES: addresses, STEAD_API_NAME: panel } = values
  if (addresses === undefined) return ''
  return [
    `Create DNS records with the address ${addresses} for *.${domain} and ${panel}.`,
    'Stead requests the certificates within ten minutes after that. Each new site gets its own, up to 40 a week.',
    'For more, add the record of the certificate for all sites. See "HTTPS" in the documentation for operators.',
    '',
  ].join('\n')
}

/** @throws CommandError when Stead does not become ready */
async function restartService(config: Config): Promise<void> {
  const isReady = (await systemctl('restart')) === 0 && (await becomesReady(config))
  if (!isReady) throw new CommandError('Stead did not start. To see why, run journalctl -u stead', { exitCode: 1 })
}

/** Waits until Stead is ready, its service has failed, or too much time has passed. */
async function becomesReady(config: Config): Promise<boolean> {
  const decided = new AbortController()
  const limit = AbortSignal.any([decided.signal, AbortSignal.timeout(READY_MS)])
  const ways = [untilReady(config, limit).then(() => true), untilFailed(limit).then(() => false)]
  const isReady = await Promise.race(ways).catch(() => false)
  decided.abort()
  await Promise.allSettled(ways)
  return isReady
}

/** Waits until systemd has given the service up, as after a setting that Stead cannot use. */
async function untilFailed(signal: AbortSignal): Promise<void> {
  do await pause(LOOK_MS, undefined, { signal })
  while ((await systemctl('is-failed', '--quiet')) !== 0)
}

/** @returns the exit code of systemctl(1) */
async function systemctl(...words: string[]): Promise<number | null> {
  const child = spawn('systemctl', [...words, 'stead.service'], { stdio: 'inherit' })
  const [code] = (await once(child, 'close')) as [number | null]
  return code
}

/** Runs `stead doctor` as the owner of the data folder, because files that root creates there would belong to root. */
async function runDoctor(
  values: SettingTexts,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const dataDir = values[variableOf('dataDir')] ?? settings.dataDir.default
  const owner = await ownerWithoutRoot(dataDir)
  const others = Object.entries(environment).filter(([name]) => !name.startsWith('STEAD_'))
  const child = spawn(process.execPath, [process.argv[1] as string, 'doctor'], {
    stdio: 'inherit',
    env: { ...Object.fromEntries(others), ...values },
    ...(owner && { uid: owner.uid, gid: owner.gid }),
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}
