import { useEffect } from 'preact/hooks'
import { productName } from '../frame/brand.ts'

/** Sets the title of the page for the tab, its history and screen readers. Undefined leaves it to another component. */
export function useTitle(title: string | undefined): void {
  const product = productName.value
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · ${product}`
  }, [title, product])
}
