import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { messageOf } from '../../../api.ts'

const FOLLOW_MS = 2000

interface Read<Entry> {
  readonly logs: readonly Entry[]
  readonly scroll_id: string
}

/** Reads the newest entries, repeatedly while following in a visible tab, and older ones page by page. */
export function useLog<Entry>(read: (scrollId?: string) => Promise<Read<Entry>>, on: readonly unknown[]) {
  const isFollowed = useSignal(true)
  const got = useSignal<{ data: readonly Entry[] } | undefined>(undefined)
  const fault = useSignal('')
  const scroll = useSignal('')
  /** Newer entries would replace the page. */
  const areOlderShown = useRef(false)
  async function load(scrollId?: string): Promise<void> {
    try {
      const { logs, scroll_id } = await read(scrollId)
      got.value = { data: scrollId ? [...(got.peek()?.data ?? []), ...logs] : logs }
      scroll.value = logs.length ? scroll_id : ''
      fault.value = ''
    } catch (error) {
      fault.value = messageOf(error)
    }
  }
  useEffect(() => {
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const turn = async () => {
      if (!document.hidden) await load()
      if (!isOver && isFollowed.peek()) timer = setTimeout(turn, FOLLOW_MS)
    }
    // Browsers slow the timers of hidden tabs, so read at once when the tab becomes visible.
    const seen = () => void (document.hidden || !isFollowed.peek() || load())
    if (areOlderShown.current) areOlderShown.current = false
    else void turn()
    document.addEventListener('visibilitychange', seen)
    return () => {
      isOver = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
    }
  }, [...on, isFollowed.value])
  const older = (): void => {
    areOlderShown.current = isFollowed.peek()
    isFollowed.value = false
    void load(scroll.value)
  }
  return { from: { got, fault, reload: load }, isFollowed, scroll, older }
}

export type Log = ReturnType<typeof useLog>
