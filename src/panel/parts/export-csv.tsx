import { useSignal } from '@preact/signals'
import type { Got } from '../api.ts'
import { csvOf, save } from '../csv.ts'
import { readAll } from '../read-all.ts'
import { exportTexts as texts } from '../texts/parts.ts'
import { Button } from './button.tsx'
import { failed, told } from './toasts.tsx'

/** The most rows of one export. */
const MOST = 2000

/** Saves the filtered list, all pages of it, as a file for spreadsheets. */
export function ExportCsv<Row>(props: {
  /** The name of the file, without its extension. */
  readonly name: string
  readonly head: readonly string[]
  read(after: number): Promise<Got<readonly Row[]>>
  row(row: Row): readonly string[]
}) {
  const isBusy = useSignal(false)
  async function run(): Promise<void> {
    isBusy.value = true
    try {
      const { rows, isCut } = await readAll({ read: props.read, first: 0, nextOf: ({ next }) => next, most: MOST })
      save(`${props.name}.csv`, csvOf([props.head, ...rows.map(props.row)]))
      if (isCut) told(texts.cut(rows.length))
    } catch (error) {
      failed(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Button icon="download" isDisabled={isBusy.value} onClick={() => void run()}>
      {texts.button}
    </Button>
  )
}
