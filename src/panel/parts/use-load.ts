import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type Got, messageOf } from '../api.ts'
import { changes } from '../live.ts'
import { session } from '../session.ts'

export interface Loaded<Data> {
  readonly got: Signal<Got<Data> | undefined>
  readonly fault: Signal<string>
  reload(): Promise<void>
}

/** Reads something, again when what it depends on changes, and when somebody else changes something. */
export function useLoad<Data>(read: () => Promise<Got<Data>>, on: readonly unknown[] = []): Loaded<Data> {
  const got = useSignal<Got<Data> | undefined>(undefined)
  const fault = useSignal('')
  const newest = useRef(0)
  async function reload(): Promise<void> {
    newest.current += 1
    const turn = newest.current
    try {
      const found = await read()
      // an answer that was overtaken is older than what is shown
      if (turn !== newest.current) return
      got.value = found
      fault.value = ''
    } catch (error) {
      // who has to sign in again sees what was there, and reads anew then
      if (session.peek() === null) return
      fault.value = messageOf(error)
    }
  }
  useEffect(() => void reload(), [...on, changes.value])
  return { got, fault, reload }
}
