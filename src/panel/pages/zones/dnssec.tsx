import { api, ask, type Got } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { zonesTexts as texts } from '../../texts/zones.ts'
import { timeOf } from '../../time.ts'

const statusIn = (status: string): string =>
  Object.entries(texts.statuses).find(([each]) => each === status)?.[1] ?? status

/** Signing of a zone, and what is to be given to the registrar. */
export function DnssecPart({ id }: { readonly id: number }) {
  const params = { path: { zone_id: id } }
  const dnssec = useLoad(() => ask(() => api.GET('/v1/zones/{zone_id}/dnssec', { params })), [id])
  const doing = (change: () => Promise<Got<unknown>>) =>
    attempt(async () => {
      await change()
      await dnssec.reload()
    })
  const set = (enabled: boolean) =>
    doing(() => ask(() => api.PUT('/v1/zones/{zone_id}/dnssec', { params, body: { enabled } })))
  const known = dnssec.got.value?.data
  return (
    <section class="sheet">
      <h2>
        {texts.dnssec} {known && <span class="tag">{statusIn(known.status)}</span>}
      </h2>
      {dnssec.fault.value && <p class="fault">{dnssec.fault.value}</p>}
      {known && (
        <>
          <p>{known.advice}</p>
          {known.fault && <p class="fault">{known.fault}</p>}
          {known.looked_at && <p class="quiet">{texts.looked(timeOf(known.looked_at))}</p>}
          {known.keys.map((key) => (
            <dl key={key.tag} class="stack">
              <dt>{texts.key(key.tag, key.state)}</dt>
              <dd>{timeOf(key.created)}</dd>
              <dt>{texts.ds}</dt>
              <dd>
                <code>{key.ds}</code>
              </dd>
              <dt>{texts.dnskey}</dt>
              <dd>
                <code>{key.dnskey}</code>
              </dd>
            </dl>
          ))}
          <p class="row">
            {known.enabled ? (
              <Button isBad onClick={set(false)}>
                {texts.off}
              </Button>
            ) : (
              <Button onClick={set(true)}>{texts.on}</Button>
            )}
            {known.enabled && (
              <Button onClick={doing(() => ask(() => api.POST('/v1/zones/{zone_id}/dnssec/keys', { params })))}>
                {texts.roll}
              </Button>
            )}
          </p>
        </>
      )}
    </section>
  )
}
