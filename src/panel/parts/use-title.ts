import { useEffect } from 'preact/hooks'
import { commonTexts } from '../texts/common.ts'

/** What the tab of the browser, its history and a screen reader call the page; undefined: somebody else says so, or nobody yet. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · ${commonTexts.title}`
  }, [title])
}
