import { expect, test } from 'vitest'
import { instantiatePhp } from './exports.ts'

const text = (value: string) => [value.length, ...Buffer.from(value)]
const section = (id: number, content: readonly number[]) => [id, content.length, ...content]
const exported = (name: string) => [...text(name), 0, 0]

/** One function under three names, and the address of one of them, which emscripten is to say. */
const module = new WebAssembly.Module(
  new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 0, 0]),
    ...section(2, [1, ...text('GOT.func'), ...text('asked'), 3, 0x7f, 1]),
    ...section(3, [1, 0]),
    ...section(7, [3, ...exported('asked'), ...exported('called'), ...exported('other')]),
    ...section(10, [1, 2, 0, 0x0b]),
  ]),
)

/** As emscripten has it: an address for each name that is read, -1 as long as it is not known. */
function addresses() {
  const known: Record<string, WebAssembly.Global> = {}
  const table = new Proxy(known, {
    get(_, name) {
      known[String(name)] ??= new WebAssembly.Global({ value: 'i32', mutable: true }, -1)
      return known[String(name)]
    },
  })
  return { known, imports: { 'GOT.func': table, 'GOT.mem': table } }
}

test('of what PHP exports those are handed over that its JavaScript calls, and whose address it asks for', async () => {
  const { known, imports } = addresses()
  const { exports } = await instantiatePhp(module, imports, ['called', 'not there'])
  expect(Object.keys(exports).toSorted()).toEqual(['asked', 'called'])
  // -1: emscripten looks for it, or gives it one
  expect(Object.entries(known).map(([name, { value }]) => [name, value])).toEqual([
    ['asked', -1],
    ['called', 0],
  ])
})

test('where it is not known what is called all are handed over, as they are', async () => {
  const { known, imports } = addresses()
  const { exports } = await instantiatePhp(module, imports, null)
  expect(Object.keys(exports).toSorted()).toEqual(['asked', 'called', 'other'])
  expect(Object.keys(known)).toEqual(['asked'])
})
