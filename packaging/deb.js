/**
 * Builds Debian packages that contain all of Stead: its program, its own Node, and its libraries. Needs `dpkg-deb`. The
 * same commit gives the same bytes.
 *
 *   node packaging/deb.js [--arch amd64,arm64] [--version 1.2.3] [--out packages] [--compression gzip]
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { foreignPrograms } from './machine.js'
import { manPage } from './man-page.js'

const root = join(import.meta.dirname, '..')
process.chdir(root)
// `setModes` does not reach the top folder of the package.
process.umask(0o022)
const debian = join(root, 'packaging/debian')
// A fixed folder, because the names of bundled files depend on it.
const work = join(root, 'node_modules/.cache/deb')
const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
/** Names of architectures: Debian's, and those of npm. */
const architectures = { amd64: 'x64', arm64: 'arm64' }
const MAINTAINER = /^Maintainer: (.*)$/m.exec(readFileSync(join(debian, 'control'), 'utf8'))?.[1]
const { values } = parseArgs({
  options: {
    arch: { type: 'string', default: 'amd64,arm64' },
    version: { type: 'string', default: manifest.version },
    out: { type: 'string', default: 'packages' },
    compression: { type: 'string', default: 'xz' },
  },
})
// dpkg-deb sets this time on files that are newer.
const epoch = process.env.SOURCE_DATE_EPOCH ?? output('git', 'log', '-1', '--format=%ct')
process.env.SOURCE_DATE_EPOCH = epoch

rmSync(work, { recursive: true, force: true })
run(process.execPath, 'src/panel/build.js')
run(process.execPath, 'packaging/build.js', '--program', join(work, 'program'))
mkdirSync(values.out, { recursive: true })
for (const arch of values.arch.split(',')) {
  const cpu = architectures[/** @type {keyof typeof architectures} */ (arch)]
  if (!cpu) throw new Error(`--arch must be ${Object.keys(architectures).join(' or ')}`)
  const tree = join(work, arch)
  layProgram(join(tree, 'usr/lib/stead'), cpu)
  const { count, foreign } = foreignPrograms(tree, /** @type {keyof typeof architectures} */ (arch))
  if (count === 0 || foreign.length > 0) throw new Error(`Not for ${arch}: ${foreign.join(', ') || 'no Node'}`)
  layIntegration(tree)
  layDocuments(join(tree, 'usr/share/doc/stead'))
  layControl(tree, arch)
  setModes(tree)
  const file = resolve(values.out, `stead_${values.version}_${arch}.deb`)
  run('dpkg-deb', '--root-owner-group', `-Z${values.compression}`, '--build', tree, file)
  console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(0)} MB`)
}
rmSync(work, { recursive: true, force: true })

/**
 * Installs the program, its libraries, and Node.
 * @param {string} folder
 * @param {string} cpu
 */
function layProgram(folder, cpu) {
  mkdirSync(folder, { recursive: true })
  for (const part of ['bin', 'dist']) cpSync(join(work, 'program', part), join(folder, part), { recursive: true })
  const browser = join(folder, 'dist/browser')
  rmSync(join(browser, 'node_modules'), { recursive: true, force: true })
  cpSync(join(root, 'package.json'), join(folder, 'package.json'))
  layLibraries(root, folder, cpu)
  layLibraries(join(root, 'browser'), browser, cpu)
  const node = join(folder, `node_modules/node-linux-${cpu}`)
  for (const name of ['bin/node', 'LICENSE']) cpSync(join(node, name), join(folder, 'node', name))
  rmSync(node, { recursive: true })
}

/**
 * Installs the packages that a program uses, without those that build the panel.
 * @param {string} from a folder with a lock file
 * @param {string} to a folder with the same `package.json`
 * @param {string} cpu
 */
function layLibraries(from, to, cpu) {
  for (const name of ['package-lock.json', '.npmrc']) cpSync(join(from, name), join(to, name))
  // Install scripts of packages only compile what has a replacement in JavaScript, and would compile it for this
  // machine.
  const flags = ['--omit=dev', '--ignore-scripts', '--prefer-offline', '--loglevel=error', `--cpu=${cpu}`, '--os=linux']
  const words = ['ci', '--workspaces=false', ...flags, '--libc=glibc']
  execFileSync('npm', words, { cwd: to, stdio: ['ignore', 'ignore', 'inherit'] })
  const modules = join(to, 'node_modules')
  rmSync(join(modules, '.bin'), { recursive: true, force: true })
  for (const path of [join(modules, '.package-lock.json'), join(to, 'package-lock.json'), join(to, '.npmrc')])
    rmSync(path)
  prune(modules)
}

/**
 * Removes files that no program reads: types, source maps, settings of tools, and the PHP for engines without JSPI.
 * @param {string} modules
 */
function prune(modules) {
  rmSync(join(modules, '@types'), { recursive: true, force: true })
  for (const entry of readdirSync(modules, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const isUnused = entry.isDirectory()
      ? entry.name === 'asyncify' && path.includes('/@php-wasm/')
      : /\.(map|la|d\.[cm]?ts)$|^\.(eslintrc|gitattributes|gitignore|gitmodules|npmignore|nycrc)(\.\w+)?$|^test\.sh$/.test(
          entry.name,
        )
    if (isUnused) rmSync(path, { recursive: true, force: true })
  }
}

/**
 * Installs the command, its manual page and completion, the settings, and the services.
 * @param {string} tree
 */
function layIntegration(tree) {
  put(join(tree, 'usr/bin/stead'), readFileSync(join(debian, 'stead.sh')))
  put(join(tree, 'etc/stead/stead.env'), readFileSync(join(debian, 'stead.env')))
  cpSync(join(debian, 'systemd'), join(tree, 'lib/systemd/system'), { recursive: true })
  const completions = {
    bash: 'bash-completion/completions/stead',
    zsh: 'zsh/vendor-completions/_stead',
    fish: 'fish/vendor_completions.d/stead.fish',
  }
  for (const [shell, path] of Object.entries(completions))
    put(join(tree, 'usr/share', path), `${output(process.execPath, 'bin/stead.js', 'completion', shell)}\n`)
  const help = (/** @type {string[]} */ ...words) => output(process.execPath, 'bin/stead.js', 'help', ...words)
  const page = manPage({
    version: values.version,
    date: new Date(Number(epoch) * 1000),
    overview: help(),
    commands: JSON.parse(help('--json')),
    settings: JSON.parse(help('settings', '--json')),
  })
  put(join(tree, 'usr/share/man/man1/stead.1.gz'), gzipSync(page, { level: 9 }))
  put(join(tree, 'usr/share/lintian/overrides/stead'), readFileSync(join(debian, 'lintian-overrides')))
}

/** @param {string} folder */
function layDocuments(folder) {
  cpSync('docs', folder, { recursive: true, filter: (path) => !/^docs\/(design|images)\b|\.ts$/.test(path) })
  const year = String(new Date(Number(epoch) * 1000).getUTCFullYear())
  put(join(folder, 'copyright'), readFileSync(join(debian, 'copyright'), 'utf8').replace('@year@', year))
  cpSync('CHANGELOG.md', join(folder, 'CHANGELOG.md'))
  const date = new Date(Number(epoch) * 1000).toUTCString().replace('GMT', '+0000')
  const entry = `stead (${values.version}) stable; urgency=medium\n\n  * CHANGELOG.md lists the changes.\n\n -- ${MAINTAINER}  ${date}\n`
  put(join(folder, 'changelog.gz'), gzipSync(entry, { level: 9 }))
}

/**
 * Writes what dpkg reads.
 * @param {string} tree
 * @param {string} arch
 */
function layControl(tree, arch) {
  const control = readFileSync(join(debian, 'control'), 'utf8')
    .replace('@version@', values.version)
    .replace('@arch@', arch)
    .replace('@size@', String(Math.ceil(sizeOf(tree) / 1024)))
  put(join(tree, 'DEBIAN/control'), control)
  put(join(tree, 'DEBIAN/conffiles'), '/etc/stead/stead.env\n')
  for (const script of ['postinst', 'prerm', 'postrm'])
    put(join(tree, 'DEBIAN', script), readFileSync(join(debian, script)))
}

/**
 * Gives every file and folder the mode that Debian expects, regardless of the umask.
 * @param {string} tree
 */
function setModes(tree) {
  const programs = /\/(usr\/bin\/stead|node\/bin\/node|DEBIAN\/(post|pre)\w+)$/
  for (const entry of readdirSync(tree, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isSymbolicLink()) chmodSync(path, entry.isDirectory() || programs.test(path) ? 0o755 : 0o644)
  }
}

/** Returns the bytes of all files below a folder. @param {string} folder */
function sizeOf(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

/**
 * @param {string} path
 * @param {string | Uint8Array} content
 */
function put(path, content) {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, content)
}

/**
 * @param {string} program
 * @param {string[]} words
 */
function run(program, ...words) {
  execFileSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'] })
}

/**
 * @param {string} program
 * @param {string[]} words
 */
function output(program, ...words) {
  return execFileSync(program, words, { encoding: 'utf8', maxBuffer: 1e8 }).trim()
}
