import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { isLive } from '../live.ts'
import { commonTexts } from '../texts/common.ts'
import { laterTexts as texts } from '../texts/parts.ts'
import { Button } from './button.tsx'
import { Callout } from './callout.tsx'

/** A page whose script loads on demand. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let known: ComponentType<Props> | undefined
  return function Later(props: Props) {
    const isThere = useSignal(Boolean(known))
    const failedBy = useSignal<'unreachable' | 'updated' | undefined>(undefined)
    const fetchPage = () => {
      if (known) return
      load().then(
        (page) => {
          known = page
          isThere.value = true
          failedBy.value = undefined
        },
        async () => {
          failedBy.value = (await answers()) ? 'updated' : 'unreachable'
        },
      )
    }
    // Retries when the connection is restored.
    useEffect(fetchPage, [isLive.value])
    const Page = known
    if (isThere.value && Page) return <Page {...props} />
    if (failedBy.value === undefined) return <p class="quiet">{texts.reading}</p>
    const isUpdated = failedBy.value === 'updated'
    return (
      <Callout kind="warn">
        <span class="row spread">
          {isUpdated ? texts.updated : commonTexts.unreachable}
          <Button isSmall onClick={isUpdated ? () => location.reload() : fetchPage}>
            {isUpdated ? texts.reload : texts.tryAgain}
          </Button>
        </span>
      </Callout>
    )
  }
}

/** Returns whether Stead answers. If it does, a missing script belongs to an earlier version. */
const answers = (): Promise<boolean> =>
  fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )
