import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Got, messageOf } from '../api.ts'
import { changes } from '../live.ts'

export interface Loaded<Data> {
  readonly got: Signal<Got<Data> | undefined>
  readonly fault: Signal<string>
  reload(): Promise<void>
}

/** Reads something, again when what it depends on changes, and when somebody else changes something. */
export function useLoad<Data>(read: () => Promise<Got<Data>>, on: readonly unknown[] = []): Loaded<Data> {
  const got = useSignal<Got<Data> | undefined>(undefined)
  const fault = useSignal('')
  async function reload(): Promise<void> {
    try {
      got.value = await read()
      fault.value = ''
    } catch (error) {
      fault.value = messageOf(error)
    }
  }
  useEffect(() => void reload(), [...on, changes.value])
  return { got, fault, reload }
}
