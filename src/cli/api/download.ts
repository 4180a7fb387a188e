import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { writeFileOnce } from '../../platform/files/write-file.ts'
import type { Stead } from '../../sdk/index.ts'
import { CommandError, diskError } from '../output.ts'
import type { ApiCommand } from './catalogue.ts'
import type { CommandContext } from './command-context.ts'
import { harmless } from './show.ts'

/** Writes a file that the API returns. It gets its name when it is complete. An existing file is not overwritten. */
export async function download(
  stead: Stead,
  command: ApiCommand,
  path: Readonly<Record<string, string>>,
  output: string | undefined,
  { out, err }: Pick<CommandContext, 'out' | 'err'>,
): Promise<number> {
  if (output === '-' && out.isTTY)
    throw new CommandError('Stead does not print files to a terminal. Use --output=FILE or a pipe')
  if (output !== undefined && output !== '-' && existsSync(output)) throw new CommandError(`${output} already exists.`)
  const response = await stead.download(command.path as never, { params: { path } } as never)
  const body = Readable.fromWeb(response.body as never)
  if (output === '-') {
    await pipeline(body, process.stdout)
    return 0
  }
  const file = output ?? nameIn(response) ?? 'download'
  if (existsSync(file)) {
    body.destroy()
    throw takenName(file)
  }
  try {
    if (!(await writeFileOnce(file, body, 0o600))) throw takenName(file)
  } catch (error) {
    throw diskError(file, error)
  } finally {
    body.destroy()
  }
  err.write(`${harmless(file)}\n`)
  return 0
}

const takenName = (file: string) => new CommandError(`${file} already exists. Choose another name with --output=FILE`)

/** Returns a name in the current folder, whatever name the server sends. */
function nameIn({ headers }: Response): string | undefined {
  const name = /filename="?([^";]+)"?/.exec(headers.get('content-disposition') ?? '')?.[1]
  const bare = name && basename(name).replace(/[^\w.-]/g, '_')
  return bare && !bare.startsWith('.') ? bare : undefined
}
