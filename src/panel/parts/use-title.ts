import { useEffect } from 'preact/hooks'
import { commonTexts } from '../texts/common.ts'

/** Sets the title of the page for the tab, its history and screen readers. Undefined leaves it to another component. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · ${commonTexts.title}`
  }, [title])
}
