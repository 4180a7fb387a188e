import { openAsBlob } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { freshLine } from '../../platform/terminal/fresh-line.ts'
import type { Import, Stead, UploadFile, UploadProgress } from '../../sdk/index.ts'
import { isOf } from '../../sdk/upload.ts'
import { CommandError } from '../output.ts'
import { UsageError } from '../usage-error.ts'
import type { CommandContext } from './command-context.ts'
import type { ParsedCall } from './parse-call.ts'
import { waitAndShow } from './run.ts'
import { harmless, jsonOf, type Terminal } from './show.ts'

const BAR_WIDTH = 24

/**
 * Runs `stead imports upload`: sends files and has them inspected. Continues an import that waits for the same files.
 */
export async function uploadFiles(
  stead: Stead,
  siteId: number,
  { body, own }: Pick<ParsedCall, 'body' | 'own'>,
  around: CommandContext,
): Promise<number> {
  const files = await filesOf((body?.files ?? []) as readonly string[])
  const { data: imports } = await stead.get('/v1/sites/{id}/imports', { params: { path: { id: siteId } } })
  const earlier = (imports as readonly Import[]).find((each) => each.state === 'uploading' && isOf(each, files))
  if (earlier) around.err.write(`Continuing import ${earlier.id}.\n`)
  const shown = uploadProgress(around.err)
  const answer = await stead
    .uploadImport(siteId, files, {
      ...(earlier ? { continue: earlier } : own.start === true && { start: true }),
      onProgress: shown.show,
    })
    .finally(shown.end)
  const { id, operationId } = answer.data
  if (own.wait && operationId !== null) await waitAndShow(stead, operationId, around)
  const path = { site_id: siteId, import_id: id }
  const { data } = await stead.get('/v1/sites/{site_id}/imports/{import_id}', { params: { path } })
  if (own.json) around.out.write(`${jsonOf(data)}\n`)
  else around.err.write(`${harmless(nextOf(siteId, data as Import))}\n`)
  return 0
}

function nextOf(siteId: number, { id, state, plan }: Import): string {
  const see = `stead imports get ${siteId} ${id}`
  if (state === 'inspecting') return `Uploaded. Import ${id} is being inspected. To see its progress: ${see}`
  const blockers = plan?.blockers ?? []
  if (blockers.length > 0) return [`Import ${id} cannot start:`, ...blockers, `See its plan: ${see}`].join('\n')
  if (state === 'ready')
    return `Import ${id} is ready. See its plan: ${see}\nStart it: stead imports start ${siteId} ${id}`
  return `Import ${id}: ${state}. See: ${see}`
}

/** @throws UsageError, CommandError */
async function filesOf(paths: readonly string[]): Promise<UploadFile[]> {
  if (paths.length === 0) throw new UsageError('FILE is missing. See: stead help imports upload')
  return Promise.all(
    paths.map(async (path) => {
      const stats = await stat(path).catch(() => undefined)
      if (!stats?.isFile()) throw new CommandError(`${path} is not a file.`)
      if (stats.size === 0) throw new CommandError(`${path} is empty.`)
      return { name: basename(path), content: await openAsBlob(path) }
    }),
  )
}

/** Shows the progress: on a terminal a line that is overwritten, otherwise one line for each tenth. */
function uploadProgress(terminal: Terminal): { show(progress: UploadProgress): void; end(): void } {
  const begun = Date.now()
  let first: number | undefined
  let said = -1
  return {
    show({ name, sentBytes, totalBytes }) {
      first ??= sentBytes
      const percent = Math.floor((100 * sentBytes) / totalBytes)
      const seconds = (Date.now() - begun) / 1000
      const speed = seconds > 1 && sentBytes > first ? `${megabytes((sentBytes - first) / seconds)}/s` : ''
      const of = `${megabytes(sentBytes)} of ${megabytes(totalBytes)}`
      if (terminal.isTTY) {
        const done = Math.round((sentBytes / totalBytes) * BAR_WIDTH)
        const bar = `[${'#'.repeat(done)}${'.'.repeat(BAR_WIDTH - done)}]`
        const line = [bar, `${percent}%`, of, speed, name].filter(Boolean).join('  ')
        terminal.write(`${freshLine({ isTTY: true })}${harmless(line).slice(0, (terminal.columns || 80) - 1)}`)
      } else if (Math.floor(percent / 10) > said) {
        said = Math.floor(percent / 10)
        terminal.write(`${percent}% uploaded (${of})\n`)
      }
    },
    end() {
      if (terminal.isTTY) terminal.write(freshLine({ isTTY: true }))
    },
  }
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`
