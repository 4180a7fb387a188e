import type { SourceEntry } from '../../backups/backup-store.ts'
import type { HostServices } from '../kit/host-services.ts'

/** Content of sites that a test defines, for backups that need neither files nor a database. */
export interface FakeContent extends Pick<HostServices, 'siteFiles' | 'siteDatabase'> {
  /** Keyed by path. */
  files: Record<string, string>
  dump: string
  /** Error to throw in the middle of the next reads. */
  fault: Error | undefined
  /** Makes reads pause in the middle until it is settled. */
  wait: Promise<unknown>
  closed: number
  /** Warning of the next snapshots. */
  warning: string | undefined
  /** Dumps that were test-loaded. */
  tried: string[]
  /** Result of a test load. Default: no difference. */
  trial: () => Promise<string | undefined>
}

export function fakeContent(): FakeContent {
  const content: Pick<FakeContent, 'files' | 'dump' | 'fault' | 'wait' | 'closed' | 'warning' | 'tried' | 'trial'> = {
    files: { 'index.php': '<?php', 'wp-config.php': '<?php // mine' },
    dump: 'CREATE TABLE `wp_options` (`option_id` int);\nINSERT INTO `wp_options` (`option_id`) VALUES (1);\n-- Dump completed\n',
    fault: undefined,
    wait: Promise.resolve(),
    closed: 0,
    warning: undefined,
    tried: [],
    trial: async () => undefined,
  }
  const middle = async (signal?: AbortSignal) => {
    await Promise.race([content.wait, new Promise((resolve) => signal?.addEventListener('abort', resolve))])
    signal?.throwIfAborted()
    if (content.fault) throw content.fault
  }
  async function* walk(_directory: unknown, { signal }: { signal?: AbortSignal } = {}): AsyncGenerator<SourceEntry> {
    for (const [path, text] of Object.entries(content.files)) {
      const bytes = Buffer.from(text)
      const open = async () =>
        (async function* () {
          yield bytes
        })()
      yield { kind: 'file', path, mode: 0o644, mtimeMs: 1000, sizeBytes: bytes.length, stamp: text, open }
      await middle(signal)
    }
  }
  async function* dump({ signal }: { signal?: AbortSignal } = {}): AsyncGenerator<Uint8Array> {
    const half = content.dump.length >> 1
    yield Buffer.from(content.dump.slice(0, half))
    await middle(signal)
    yield Buffer.from(content.dump.slice(half))
  }
  const snapshot = async () => ({
    takenAt: Date.now(),
    estimatedBytes: content.dump.length,
    ...(content.warning !== undefined && { warning: content.warning }),
    dump,
    close: async () => void content.closed++,
  })
  const tryOut = async (_directory: unknown, sql: AsyncIterable<Uint8Array>) => {
    content.tried.push(String(Buffer.concat(await Array.fromAsync(sql))))
    return content.trial()
  }
  const size = async () => ({ bytes: Object.values(content.files).join('').length, files: 2 })
  return Object.assign(content, {
    siteFiles: { walk, size },
    siteDatabase: { snapshot, tryOut },
  }) as unknown as FakeContent
}
