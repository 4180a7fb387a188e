import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { emptied, readPhpFiles, withoutTypes } from '../wasm/program.ts'

/** Files that all sandboxes see, and the programs started in them, in a folder that only Stead may enter. */
export interface NativeProgram {
  readonly folder: string
  /** Stead's PHP files. */
  readonly php: string
  /** PHP's `/etc`. */
  readonly etc: string
  readonly certificates: string
  /** Path of `network-child.ts`, in a form that Node can run. */
  readonly networkChild: string
  remove(): Promise<void>
}

/** `.ts` when Stead runs from source, `.js` when it was built. */
const extension = extname(import.meta.filename)
/** The folder contains sockets, whose paths may not be longer than 107 bytes. */
const longestFolder = 75

const etc: Readonly<Record<string, string>> = {
  hosts: '127.0.0.1 localhost\n',
  'nsswitch.conf': 'hosts: files dns\n',
  // The host answers there (name-server.ts).
  'resolv.conf': 'nameserver 127.0.0.1\noptions timeout:5 attempts:1\n',
}

/**
 * Writes the files.
 * @param certificates the CAs that PHP trusts, PEM
 * @param morePhp additional PHP files by name, stored next to Stead's own
 * @param ownFolder as for php-wasm; ignored when its path is too long
 */
export async function prepareNative(
  certificates: string,
  morePhp: Readonly<Record<string, Buffer>>,
  ownFolder?: string,
): Promise<NativeProgram> {
  const isUsable = ownFolder !== undefined && Buffer.byteLength(ownFolder) <= longestFolder
  const folder = isUsable ? await emptied(ownFolder) : await mkdtemp(join(tmpdir(), 'stead-native-'))
  await chmod(folder, 0o700)
  const program = {
    folder,
    php: join(folder, 'stead'),
    etc: join(folder, 'etc'),
    certificates: join(folder, 'certificates'),
    networkChild: join(folder, 'network-child.mjs'),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
  await writeAll(program.php, { ...(await readPhpFiles()), ...morePhp })
  await writeAll(program.etc, etc)
  await writeAll(program.certificates, { 'ca-certificates.crt': `${certificates}\n` })
  const source = await readFile(join(import.meta.dirname, `network-child${extension}`), 'utf8')
  await writeFile(program.networkChild, extension === '.ts' ? withoutTypes(source) : source)
  return program
}

/** Makes the files readable for the users of sites, who see these folders but not their surroundings. */
async function writeAll(folder: string, files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  await mkdir(folder)
  await chmod(folder, 0o755)
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(folder, name), content)
    await chmod(join(folder, name), 0o644)
  }
}
