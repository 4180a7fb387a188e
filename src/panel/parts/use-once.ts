import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../api.ts'
import type { Loaded } from './use-load.ts'

/** Loads something expensive: when the page opens, and not when others change something. */
export function useOnce<Data>(
  read: () => Promise<{ readonly data: Data }>,
  on: readonly unknown[],
): Pick<Loaded<Data>, 'got' | 'fault'> {
  const got = useSignal<{ readonly data: Data } | undefined>(undefined)
  const fault = useSignal('')
  useEffect(() => {
    let isOver = false
    read().then(
      (found) => {
        if (!isOver) got.value = found
      },
      (error) => {
        if (!isOver) fault.value = messageOf(error)
      },
    )
    return () => {
      isOver = true
    }
  }, on)
  return { got, fault }
}
