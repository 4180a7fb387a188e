import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Machine, type Root, TrustFault, type TrustPlace } from './machine.ts'

/** The way in which a kind of Linux stores the operator's own certificates. Paths are below the system's root. */
interface Anchors {
  readonly folder: string
  readonly program: string
  /** The arguments that make the program remove a certificate completely. */
  readonly forgetting: readonly string[]
  /** The bundle of all trusted certificates that the program creates. */
  readonly bundle: string
  /** Returns the arguments that make the program work below a root other than `/`. */
  readonly below: (root: string) => readonly string[]
}

const kinds: readonly Anchors[] = [
  // Debian and Ubuntu.
  {
    folder: 'usr/local/share/ca-certificates',
    program: 'update-ca-certificates',
    // Without it, links to removed certificates stay behind.
    forgetting: ['--fresh'],
    bundle: 'etc/ssl/certs/ca-certificates.crt',
    below: (root) =>
      [
        ['--certsconf', 'etc/ca-certificates.conf'],
        ['--certsdir', 'usr/share/ca-certificates'],
        ['--localcertsdir', 'usr/local/share/ca-certificates'],
        ['--etccertsdir', 'etc/ssl/certs'],
        ['--hooksdir', 'etc/ca-certificates/update.d'],
      ].flatMap(([option, path]) => [option as string, join(root, path as string)]),
  },
  // Fedora and related systems.
  {
    folder: 'etc/pki/ca-trust/source/anchors',
    program: 'update-ca-trust',
    forgetting: [],
    bundle: 'etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
    below: (root) => ['extract', '--output', join(root, 'etc/pki/ca-trust/extracted')],
  },
]

/** Returns the store that the programs of this machine use. */
export function systemStore(machine: Machine): TrustPlace {
  if (machine.platform === 'darwin') return keychain(machine)
  const kind = kinds.find(({ folder }) => existsSync(join(machine.systemRoot, folder)))
  if (machine.platform !== 'linux' || !kind) return unknownStore(machine)
  return anchors(machine, kind)
}

function anchors({ systemRoot, isRoot, run }: Machine, kind: Anchors): TrustPlace {
  const { folder, program, forgetting, bundle, below } = kind
  const fileOf = ({ fileName }: Root) => join(systemRoot, folder, `${fileName}.crt`)
  const read = (path: string) => readFile(path, 'utf8').catch(() => undefined)
  const update = async (...how: readonly string[]) => {
    const args = systemRoot === '/' ? how : [...how, ...below(systemRoot)]
    const { code, isMissing, error } = await run(program, args)
    if (isMissing) throw new TrustFault(`${program} is missing. Install the package ca-certificates`)
    if (code !== 0) throw new TrustFault(`${program} failed: ${error}`)
  }
  return {
    where: join(systemRoot, folder),
    async holds(root) {
      const inBundle = (await read(join(systemRoot, bundle)))?.includes(root.certificate.trim()) ?? false
      const inFolder = (await read(fileOf(root))) === root.certificate
      return inBundle && inFolder ? 'all' : inBundle || inFolder ? 'part' : 'nothing'
    },
    async add(root) {
      const file = fileOf(root)
      if (!isRoot)
        throw new TrustFault(
          `this requires root. Run: stead trust --print | sudo tee ${file} >/dev/null && sudo ${program}`,
        )
      const there = await read(file)
      if (there !== undefined && there !== root.certificate)
        throw new TrustFault(`a different file ${file} already exists`)
      await writeFile(file, root.certificate, { mode: 0o644 })
      try {
        await update()
      } catch (error) {
        await rm(file, { force: true })
        throw error
      }
    },
    async remove(root) {
      const file = fileOf(root)
      const command = [program, ...forgetting].join(' ')
      if (!isRoot) throw new TrustFault(`this requires root. Run: sudo rm -f ${file} && sudo ${command}`)
      if ((await read(file)) === root.certificate) await rm(file)
      await update(...forgetting)
    },
  }
}

/** Returns the store of macOS: the system's keychain for root, otherwise the user's own. */
function keychain({ home, isRoot, run }: Machine): TrustPlace {
  const path = isRoot ? '/Library/Keychains/System.keychain' : join(home, 'Library/Keychains/login.keychain-db')
  const forAll = isRoot ? ['-d'] : []
  const security = async (...args: string[]) => {
    const { code, error } = await run('security', args)
    if (code !== 0) throw new TrustFault(`security ${args[0]} failed: ${error}`)
  }
  return {
    where: path,
    async holds({ certificate, name }) {
      const { out } = await run('security', ['find-certificate', '-a', '-c', name, '-p', path])
      return out.includes(certificate.trim()) ? 'all' : 'nothing'
    },
    add: (root) =>
      inFile(root, (file) => security('add-trusted-cert', ...forAll, '-r', 'trustRoot', '-p', 'ssl', '-k', path, file)),
    remove: (root) =>
      inFile(root, async (file) => {
        await security('remove-trusted-cert', ...forAll, file)
        await security('delete-certificate', '-c', root.name, path)
      }),
  }
}

/** Writes the certificate to a file, for programs that only read files. */
export async function inFile<Result>(root: Root, work: (file: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-trust-'))
  try {
    const file = join(folder, `${root.fileName}.crt`)
    await writeFile(file, root.certificate)
    return await work(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function unknownStore({ platform }: Machine): TrustPlace {
  const isWindows = platform === 'win32'
  const refuse = async () => {
    throw new TrustFault(
      isWindows
        ? 'Stead does not change it. Run stead trust --print > stead.crt, then certutil -user -addstore Root stead.crt (or -delstore Root and the name)'
        : 'Stead does not know its location on this system. Add or remove the output of stead trust --print as your system requires',
    )
  }
  const where = isWindows ? 'the Windows store' : 'the system store'
  return { where, holds: refuse, add: refuse, remove: refuse }
}
