type Imports = Record<string, Record<string, unknown>>

/**
 * Where emscripten keeps the addresses that a module or a library requests. It creates an entry for each name that is
 * read.
 */
const ADDRESSES = ['GOT.func', 'GOT.mem']

/**
 * Instantiates PHP's module, and hands over only the needed exports. Emscripten wraps each export. It puts each one
 * without an address into the table of functions, for libraries that no site loads.
 * @param called the names that its JavaScript calls, or null if all are needed
 */
export async function instantiatePhp(
  module: WebAssembly.Module,
  imports: Imports,
  called: readonly string[] | null,
): Promise<WebAssembly.Instance> {
  if (!called) return WebAssembly.instantiate(module, imports as WebAssembly.Imports)
  const asked = new Set<string>()
  const noting = (addresses: Record<string, unknown>) =>
    new Proxy(addresses, {
      get(target, name) {
        asked.add(String(name))
        return Reflect.get(target, name)
      },
    })
  const noted = Object.fromEntries(ADDRESSES.map((name) => [name, noting(imports[name] ?? {})]))
  const instance = await WebAssembly.instantiate(module, { ...imports, ...noted } as WebAssembly.Imports)
  const exports: Record<string, WebAssembly.ExportValue> = {}
  for (const name of new Set([...called, ...asked])) {
    const value = instance.exports[name]
    if (value === undefined) continue
    exports[name] = value
    // Marked as having an address already, because nothing requests it.
    if (typeof value === 'function' && !asked.has(name)) addressOf(imports, name).value = 0
  }
  return { exports } as WebAssembly.Instance
}

const addressOf = (imports: Imports, name: string) => imports['GOT.func']?.[name] as WebAssembly.Global
