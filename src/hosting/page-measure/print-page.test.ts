import { expect, it, test } from 'vitest'
import { findChromium } from './find-chromium.ts'
import { findModules } from './measure-page.ts'
import { limitPrinter, PrinterBusy, printInJail } from './print-page.ts'

const { signal } = new AbortController()
const chromium = await findChromium(undefined)
const canPrint = chromium !== undefined && findModules() !== undefined

it('lets an account print two pages at a time, and all together eight', async () => {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const print = limitPrinter(() => promise)
  const of = (accountId: number) => print({ html: '', accountId, signal })
  const begun = [of(1), of(1)]
  await expect(of(1)).rejects.toThrow(PrinterBusy)
  begun.push(...[2, 2, 3, 3, 4, 4].map(of))
  await expect(of(5)).rejects.toThrow(PrinterBusy)
  resolve(Buffer.from('pdf'))
  await Promise.all(begun)
  expect(await of(5)).toEqual(Buffer.from('pdf'))
})

it('makes room after a page that could not be printed', async () => {
  const print = limitPrinter(async () => {
    throw new Error('broken')
  })
  for (let times = 0; times < 3; times++)
    await expect(print({ html: '', accountId: 1, signal })).rejects.toThrow('broken')
})

test.skipIf(!canPrint)(
  'prints a page in a jail, without its scripts, and without anything from elsewhere',
  async () => {
    const html = `<!doctype html><title>Report</title><h1>Hello</h1>
    <img src="http://127.0.0.1:1/x.png"><script>document.body.remove()</script>`
    const pdf = await printInJail({ html, signal, chromium: chromium as string })
    expect(pdf.toString('latin1', 0, 5)).toBe('%PDF-')
    expect(pdf.length).toBeGreaterThan(3000)
  },
)
