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

/** `auto`: native where this machine has a version, else compiled to WebAssembly; `native`: never the latter. */
export type RuntimeChoice = 'wasm' | 'native' | 'auto'

export interface ChosenRuntimeOptions {
  readonly wasm: WasmRuntimeOptions
  readonly native: NativeRuntimeOptions
}

/**
 * The runtime of a host. Nothing above it knows by which of the two a site runs.
 * @throws PhpUnavailable when only native PHP will do, and this machine has none of any version
 */
export async function chooseRuntime(
  choice: RuntimeChoice,
  { wasm, native }: ChosenRuntimeOptions,
): Promise<PhpRuntime> {
  if (choice === 'wasm') return createWasmRuntime(wasm)
  const onMachine = await createNativeRuntime(native)
  const reasons = [...onMachine.versions.values()].map(({ missing }) => missing)
  if (choice === 'native' && reasons.every((missing) => missing !== undefined)) {
    await onMachine.close()
    throw new PhpUnavailable(`no PHP runs natively here: ${[...new Set(reasons)].join('; ')}`)
  }
  return together(onMachine, choice === 'auto' ? await createWasmRuntime(wasm) : undefined)
}

function together(native: NativeRuntime, wasm: PhpRuntime | undefined): PhpRuntime {
  const missing = (version: PhpVersion) => native.versions.get(version)?.missing
  const isNative = (version: PhpVersion) => missing(version) === undefined
  return {
    async start(site: PhpSite, options?: PhpStart): Promise<PhpProcess> {
      const { phpVersion } = site
      const runtime = isNative(phpVersion) ? native : wasm
      if (runtime) return runtime.start(site, options)
      throw new PhpUnavailable(`PHP ${phpVersion} does not run natively on this host: ${missing(phpVersion)}`)
    },
    containment(): Containment {
      const ofNative = native.containment()
      const runtimes = runtimesOf((version) => (isNative(version) ? 'native' : wasm ? 'wasm' : 'refused'))
      return { ...(wasm?.containment() ?? ofNative), runtimes }
    },
    async close(): Promise<void> {
      await Promise.all([native.close(), wasm?.close()])
    },
  }
}
