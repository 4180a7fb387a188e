import { api, ask, type Got } from '../../api.ts'
import { askFirst } from '../../parts/ask-first.tsx'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { CopyField } from '../../parts/copy-field.tsx'
import { attempt } from '../../parts/toasts.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { zonesTexts as texts } from '../../texts/zones.ts'
import { timeOf } from '../../time.ts'

const statusIn = (status: string): string =>
  Object.entries(texts.statuses).find(([each]) => each === status)?.[1] ?? status

/** The signing of a zone, and the data for the registrar. */
export function DnssecPart({ id }: { readonly id: number }) {
  const params = { path: { zone_id: id } }
  const dnssec = useLoad(() => ask(() => api.GET('/v1/zones/{zone_id}/dnssec', { params })), [id])
  const change = async (request: () => Promise<Got<unknown>>) => {
    await request()
    await dnssec.reload()
  }
  const set = (enabled: boolean) => ask(() => api.PUT('/v1/zones/{zone_id}/dnssec', { params, body: { enabled } }))
  const known = dnssec.got.value?.data
  return (
    <Card
      class="s12"
      title={texts.dnssec}
      actions={
        known && (
          <>
            <span class={`badge ${known.status === 'secure' ? 'good' : known.enabled ? 'info' : ''}`}>
              {statusIn(known.status)}
            </span>
            {known.enabled && (
              <Button
                isSmall
                onClick={attempt(() =>
                  change(() => ask(() => api.POST('/v1/zones/{zone_id}/dnssec/keys', { params }))),
                )}
              >
                {texts.roll}
              </Button>
            )}
            {known.enabled ? (
              <Button
                isSmall
                isBad
                onClick={askFirst({
                  title: texts.off,
                  text: texts.offIs,
                  button: texts.off,
                  go: () => change(() => set(false)),
                })}
              >
                {texts.off}
              </Button>
            ) : (
              <Button isSmall onClick={attempt(() => change(() => set(true)))}>
                {texts.on}
              </Button>
            )}
          </>
        )
      }
    >
      {dnssec.fault.value && <p class="fault">{dnssec.fault.value}</p>}
      {known && (
        <div class="stack-14">
          <p>{known.advice}</p>
          {known.fault && <p class="fault">{known.fault}</p>}
          {known.looked_at && <p class="quiet">{texts.looked(timeOf(known.looked_at))}</p>}
          {known.keys.map((key) => (
            <section key={key.tag} aria-label={texts.key(key.tag, texts.keyStates[key.state] ?? key.state)}>
              <h3>{texts.key(key.tag, texts.keyStates[key.state] ?? key.state)}</h3>
              <p class="quiet small">{texts.since(timeOf(key.created))}</p>
              <dl class="stack">
                <dt>{texts.ds}</dt>
                <dd>
                  <CopyField value={key.ds} of={texts.ds} />
                </dd>
                <dt>{texts.dnskey}</dt>
                <dd>
                  <CopyField value={key.dnskey} of={texts.dnskey} />
                </dd>
              </dl>
            </section>
          ))}
        </div>
      )}
    </Card>
  )
}
