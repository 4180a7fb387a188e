import { isOnMariaDb } from '../mariadb/on-mariadb.ts'
import type { DatabaseKind } from '../site-database/database-kind.ts'
import { createNativeRuntime, type NativeRuntime, type NativeRuntimeOptions } from './native/start.ts'
import {
  type Containment,
  type PhpProcess,
  type PhpRuntime,
  type PhpSite,
  type PhpStart,
  PhpUnavailable,
  type PhpVersion,
  runtimesOf,
} from './runtime.ts'
import { createWasmRuntime, type WasmRuntimeOptions } from './wasm/start.ts'

/**
 * `auto`: native with its database on MariaDB if this machine has both for a version, otherwise compiled to WebAssembly
 * with an SQLite file. `native`: never the latter.
 */
export type RuntimeChoice = 'wasm' | 'native' | 'auto'

export interface ChosenRuntimeOptions {
  readonly wasm: WasmRuntimeOptions
  /** With `databases`, sites can have their databases on MariaDB. */
  readonly native: NativeRuntimeOptions
}

/**
 * Creates the runtime of a host. Its callers do not know which of the two runs a site.
 * @throws PhpUnavailable when only native PHP is allowed, and this machine has none of any version
 */
export async function chooseRuntime(
  choice: RuntimeChoice,
  { wasm, native }: ChosenRuntimeOptions,
): Promise<PhpRuntime> {
  if (choice === 'wasm') return together(undefined, await createWasmRuntime(wasm), false)
  const onMachine = await createNativeRuntime(native)
  const reasons = [...onMachine.versions.values()].map(({ missing }) => missing)
  if (choice === 'native' && reasons.every((missing) => missing !== undefined)) {
    await onMachine.close()
    throw new PhpUnavailable(`no PHP version runs natively on this server: ${[...new Set(reasons)].join('; ')}`)
  }
  const hasMariaDb = native.databases !== undefined
  return together(onMachine, choice === 'auto' ? await createWasmRuntime(wasm) : undefined, hasMariaDb)
}

/** Returns the kind of a new site's database, which depends on the runtime of its PHP. */
export const databaseKindOf = (
  runtimes: Containment['runtimes'],
  version: PhpVersion,
  hasMariaDb: boolean,
): DatabaseKind => (runtimes[version] === 'native' && hasMariaDb ? 'mariadb' : 'sqlite')

function together(native: NativeRuntime | undefined, wasm: PhpRuntime | undefined, hasMariaDb: boolean): PhpRuntime {
  const missing = (version: PhpVersion) => (native ? native.versions.get(version)?.missing : 'STEAD_RUNTIME is wasm')
  const isNative = (version: PhpVersion) => missing(version) === undefined
  const of = ({ siteDirectory, phpVersion }: PhpSite): PhpRuntime => {
    const onServer = isOnMariaDb(siteDirectory)
    // PHP in WebAssembly cannot reach a server. If both runtimes exist, WebAssembly runs the sites with a file.
    const runtime = onServer ? isNative(phpVersion) && hasMariaDb && native : (wasm ?? (isNative(phpVersion) && native))
    if (runtime) return runtime
    const why = isNative(phpVersion) ? 'this host has no MariaDB for sites' : missing(phpVersion)
    throw new PhpUnavailable(
      `PHP ${phpVersion} does not run natively on this host${onServer ? ', and the database of the site is on MariaDB' : ''}: ${why}`,
    )
  }
  return {
    start: async (site: PhpSite, options?: PhpStart): Promise<PhpProcess> => of(site).start(site, options),
    usualBytes: (site) => of(site).usualBytes(site),
    containment(): Containment {
      const runtimes = runtimesOf((version) =>
        isNative(version) && (hasMariaDb || !wasm) ? 'native' : wasm ? 'wasm' : 'refused',
      )
      const notes = [wasm, native].flatMap((each) => each?.containment().notes ?? [])
      return { ...((wasm ?? native) as PhpRuntime).containment(), notes: [...new Set(notes)], runtimes }
    },
    ...(wasm?.machineCode && { machineCode: wasm.machineCode }),
    async close(): Promise<void> {
      await Promise.all([native?.close(), wasm?.close()])
    },
  }
}
