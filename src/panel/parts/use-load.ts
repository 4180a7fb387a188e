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

/** Loads something, and loads it again when its dependencies change, or when others change something. */
export function useLoad<Data>(read: () => Promise<Got<Data>>, on: readonly unknown[] = []): Loaded<Data> {
  const got = useSignal<Got<Data> | undefined>(undefined)
  const fault = useSignal('')
  const newest = useRef(0)
  async function reload(): Promise<void> {
    newest.current += 1
    const turn = newest.current
    try {
      const found = await read()
      // An overtaken answer is older than the current one.
      if (turn !== newest.current) return
      got.value = found
      fault.value = ''
    } catch (error) {
      // A person who must sign in again still sees the old data, then reloads it.
      if (session.peek() === null) return
      fault.value = messageOf(error)
    }
  }
  useEffect(() => void reload(), [...on, changes.value])
  return { got, fault, reload }
}
