import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { laterTexts as texts } from '../texts/parts.ts'

/** A page whose script is fetched when it is asked for. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let known: ComponentType<Props> | undefined
  return function Later(props: Props) {
    const isThere = useSignal(Boolean(known))
    const hasFailed = useSignal(false)
    useEffect(() => {
      if (known) return
      load().then(
        (page) => {
          known = page
          isThere.value = true
        },
        () => {
          hasFailed.value = true
        },
      )
    }, [])
    const Page = known
    if (hasFailed.value) return <p class="fault">{texts.failed}</p>
    if (!isThere.value || !Page) return <p class="quiet">{texts.reading}</p>
    return <Page {...props} />
  }
}
