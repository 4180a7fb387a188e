import { execFile } from 'node:child_process'
import {
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { rootCertificates } from 'node:tls'
import { promisify } from 'node:util'
import { type CoreSource, coreLimits, type SourceTask } from '../core-source.ts'
import { isVersion } from '../wordpress-version.ts'
import { mirrorsIn, targetsFormat } from './debian-mirrors.ts'

const run = promisify(execFile)

const release = 'trixie'
const keyrings = ['/usr/share/keyrings/debian-archive-keyring.gpg', '/usr/share/keyrings/debian-archive-keyring.pgp']
// The libraries that Debian's WordPress links to instead of including them.
const libraries = ['libjs-underscore', 'libjs-lodash', 'libjs-cropper', 'php-getid3']
const systemCertificates = '/etc/ssl/certs/ca-certificates.crt'

/**
 * Returns WordPress as Debian packages it, for machines that reach little more than a Debian mirror. Uses the mirror of
 * the machine's own package configuration. Installs nothing: apt works on its own lists in the work folder, checks
 * Debian's signatures, and dpkg only unpacks.
 */
export function debianPackageSource(): CoreSource {
  const offered = async (task: SourceTask) => {
    task.report('resolving')
    const apt = await prepareApt(task)
    const { stderr } = await apt('apt-get', ['update', '-q'])
    const { stdout } = await apt('apt-cache', ['show', '--no-all-versions', 'wordpress'])
    const version = /^Version: (?:\d+:)?([^+\s]+)/m.exec(stdout)?.[1]
    if (!version || !isVersion(version))
      throw new Error(`the mirror offers no package wordpress ${lastLine(stderr)}`.trim())
    return { apt, version }
  }
  return {
    name: `Debian's package (${release})`,
    identity: async () => release,
    versions: async (task) => [{ version: (await offered(task)).version }],
    async find(version, task) {
      const { apt, version: found } = await offered(task)
      if (version !== 'latest' && version !== found) throw new Error(`it offers ${found}, not ${version}`)
      return { version: found, unpack: (into) => unpackPackages(apt, into, task) }
    },
  }
}

type Apt = (program: 'apt-get' | 'apt-cache', parameters: string[]) => Promise<{ stdout: string; stderr: string }>

async function prepareApt(task: SourceTask): Promise<Apt> {
  const state = join(task.workDir, 'apt')
  for (const folder of ['lists/partial', 'cache/archives/partial'])
    await mkdir(join(state, folder), { recursive: true })
  await writeFile(join(state, 'status'), '')
  await writeFile(join(state, 'sources.list'), await sourcesList(task.signal))
  const settings = {
    'Dir::Etc::sourcelist': join(state, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': join(state, 'lists'),
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': join(state, 'cache'),
    // Container images turn these off. Without them, every call would read 60,000 packages again (0.9 s).
    'Dir::Cache::pkgcache': 'pkgcache.bin',
    'Dir::Cache::srcpkgcache': 'srcpkgcache.bin',
    // apt's own unprivileged user cannot access the data folder.
    'APT::Sandbox::User': 'root',
    'APT::Get::AllowUnauthenticated': 'false',
    'Acquire::AllowInsecureRepositories': 'false',
    'Acquire::AllowDowngradeToInsecureRepositories': 'false',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '1',
    'Acquire::http::Timeout': '10',
    'Acquire::https::Timeout': '10',
  }
  // Keeps the machine's own settings, such as its proxy, but not the programs it runs after an update.
  const hooks = ['APT::Update::Pre-Invoke', 'APT::Update::Post-Invoke', 'APT::Update::Post-Invoke-Success']
  const lines = [
    ...hooks.map((hook) => `#clear ${hook};`),
    ...Object.entries(settings).map(([key, value]) => `${key} "${value}";`),
  ]
  await writeFile(join(state, 'apt.conf'), `${lines.join('\n')}\n`)
  return (program, parameters) => runTool(program, ['-c', join(state, 'apt.conf'), ...parameters], state, task.signal)
}

async function sourcesList(signal: AbortSignal | undefined): Promise<string> {
  const readable = await Promise.all(
    keyrings.map((path) =>
      stat(path).then(
        () => path,
        () => undefined,
      ),
    ),
  )
  const keyring = readable.find((path) => path !== undefined)
  if (!keyring) throw new Error("Debian's signing keys are missing on this server (package debian-archive-keyring)")
  const asked = ['indextargets', '--no-release-info', '--format', targetsFormat]
  const { stdout } = await runTool('apt-get', asked, '/', signal)
  const mirrors = mirrorsIn(stdout)
  if (!mirrors) throw new Error('this server has no configured source of Debian packages (/etc/apt)')
  const { main, security } = mirrors
  const line = (address: string, suite: string) => `deb [signed-by=${keyring}] ${address} ${suite} main\n`
  return `${line(main, release)}${security ? line(security, `${release}-security`) : ''}`
}

/** A terminal sends Ctrl-C to these programs too. They leave it to the caller, or the source would seem to have failed. */
const IGNORING_CTRL_C = ['-c', `trap '' INT HUP; exec "$0" "$@"`]
const NOT_FOUND = 127

async function runTool(program: string, parameters: string[], cwd: string, signal: AbortSignal | undefined) {
  try {
    return await run('/bin/sh', [...IGNORING_CTRL_C, program, ...parameters], {
      cwd,
      signal,
      maxBuffer: 64 * 2 ** 20,
      timeout: 10 * 60_000,
    })
  } catch (cause) {
    signal?.throwIfAborted()
    const { code, stderr = '', message } = cause as { code?: unknown; stderr?: string; message: string }
    if (code === NOT_FOUND) throw new Error(`${program} is missing on this server`, { cause })
    throw new Error(`${program} failed: ${lastLine(stderr) || message}`, { cause })
  }
}

const lastLine = (text: string) => text.trim().split('\n').at(-1)?.slice(0, 300) ?? ''

async function unpackPackages(apt: Apt, into: string, task: SourceTask): Promise<void> {
  const packages = ['wordpress', await newestTheme(apt), ...libraries]
  const downloads = join(task.workDir, 'apt')
  const { stdout } = await apt('apt-get', ['download', '--print-uris', ...packages])
  const totalBytes = [...stdout.matchAll(/^'[^']+' \S+ (\d+) /gm)].reduce((sum, match) => sum + Number(match[1]), 0)
  const timer = setInterval(async () => task.report('downloading', await sizeOfPackages(downloads), totalBytes), 200)
  try {
    await apt('apt-get', ['download', '-q', ...packages])
  } finally {
    clearInterval(timer)
  }
  task.report('downloading', totalBytes, totalBytes)
  task.report('unpacking')
  const root = join(task.workDir, 'packages')
  await mkdir(root)
  for (const name of (await readdir(downloads)).filter((entry) => entry.endsWith('.deb')))
    await runTool('dpkg-deb', ['-x', join(downloads, name), root], task.workDir, task.signal)
  const core = join(root, 'usr/share/wordpress')
  // Both are links to the packaged site's settings in /etc.
  for (const name of ['.htaccess', 'wp-config.php']) await rm(join(core, name), { force: true })
  await putCertificates(core)
  await replaceLinks(core, root)
  await rename(core, into)
}

async function newestTheme(apt: Apt): Promise<string> {
  const { stdout } = await apt('apt-cache', ['search', '--names-only', '^wordpress-theme-twenty'])
  const names = [...stdout.matchAll(/^(wordpress-theme-twenty[a-z]+) /gm)].map((match) => match[1]!)
  const newest = names.sort((a, b) => themeYear(b) - themeYear(a))[0]
  if (!newest) throw new Error('the mirror offers no default theme (wordpress-theme-twenty…)')
  return newest
}

// Default themes are named after years in words: twentytwentyfive is the theme of 2025.
function themeYear(name: string): number {
  const ones = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
  const [, tens, one] = /-twenty(twenty|thirty)([a-z]*)$/.exec(name) ?? []
  if (!tens) return 0
  return (tens === 'twenty' ? 20 : 30) + (one ? ones.indexOf(one) + 1 : 0)
}

async function sizeOfPackages(folder: string): Promise<number> {
  let sizeBytes = 0
  for (const place of [folder, join(folder, 'cache/archives/partial')])
    for (const name of await readdir(place).catch(() => []))
      if (name.endsWith('.deb'))
        sizeBytes += await stat(join(place, name)).then(
          (stats) => stats.size,
          () => 0,
        )
  return sizeBytes
}

async function putCertificates(core: string): Promise<void> {
  const bundle = join(core, 'wp-includes/certificates/ca-bundle.crt')
  await rm(bundle, { force: true })
  await mkdir(dirname(bundle), { recursive: true })
  const system = await readFile(systemCertificates, 'utf8').catch(() => rootCertificates.join('\n'))
  await writeFile(bundle, system)
}

/** Replaces links with the files they lead to, as long as these came with the packages. */
async function replaceLinks(core: string, packages: string): Promise<void> {
  let entries = 0
  const root = await realpath(packages)
  const walk = async (path: string): Promise<void> => {
    entries += 1
    if (entries > coreLimits.maxEntries) throw new Error('the packages hold more than a WordPress release')
    const stats = await lstat(path)
    if (stats.isDirectory()) for (const name of await readdir(path)) await walk(join(path, name))
    if (!stats.isSymbolicLink()) return
    const link = await readlink(path)
    const shown = `${relative(core, path)} (a link to ${link})`
    // Absolute links also refer to the packages' tree, and never to this machine's own files.
    const real = await realpath(link.startsWith('/') ? join(root, link) : path).catch((cause) => {
      throw new Error(`the packages lack ${shown}`, { cause })
    })
    if (!real.startsWith(root + sep) || !(await stat(real)).isFile()) throw new Error(`not in the packages: ${shown}`)
    await rm(path)
    await copyFile(real, path)
  }
  await walk(core)
}
