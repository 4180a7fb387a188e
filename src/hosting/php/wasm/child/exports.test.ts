import { expect, test } from 'vitest'
import { instantiatePhp } from './exports.ts'

const text = (value: string) => [value.length, ...Buffer.from(value)]
const section = (id: number, content: readonly number[]) => [id, content.length, ...content]
const exported = (name: string) => [...text(name), 0, 0]

/** A module with one function under three names, which asks emscripten for the address of one of them. */
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

/** Imitates emscripten: an address for each name that is read, -1 while it is unknown. */
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

test('hands over the exports of PHP that its JavaScript calls, or whose address it requests', async () => {
  const { known, imports } = addresses()
  const { exports } = await instantiatePhp(module, imports, ['called', 'not there'])
  expect(Object.keys(exports).toSorted()).toEqual(['asked', 'called'])
  // -1: emscripten looks for it, or assigns one.
  expect(Object.entries(known).map(([name, { value }]) => [name, value])).toEqual([
    ['asked', -1],
    ['called', 0],
  ])
})

test('hands over all exports unchanged if the called ones are not known', async () => {
  const { known, imports } = addresses()
  const { exports } = await instantiatePhp(module, imports, null)
  expect(Object.keys(exports).toSorted()).toEqual(['asked', 'called', 'other'])
  expect(Object.keys(known)).toEqual(['asked'])
})
