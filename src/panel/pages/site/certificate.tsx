import type { components } from '../../../sdk/api.generated.ts'
import { api, ask, Refusal } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import { useLoad } from '../../parts/use-load.ts'
import { domainsTexts as texts } from '../../texts/site/domains.ts'
import { timeOf } from '../../time.ts'
import type { PartProps } from './part.ts'

type Domain = components['schemas']['ListedDomain']

/** The certificate of a domain: until when, or why there is none, and another try. */
export function Certificate({ domain, act }: { readonly domain: Domain; readonly act: PartProps['act'] }) {
  const params = { path: { zone_id: domain.zoneId, id: domain.id } }
  const ssl = useLoad(
    () =>
      ask(() => api.GET('/v1/zones/{zone_id}/records/{id}/ssl', { params })).catch((error: unknown) => {
        if (error instanceof Refusal && error.code === 'ssl_nothing_found') return { data: undefined }
        throw error
      }),
    [domain.id],
  )
  const got = ssl.got.value
  if (!got) return <p class="quiet">{ssl.fault.value}</p>
  const { certificate_expiration_date: until, broken_check: why, force_ssl: force } = got.data ?? {}
  const put = (about: string, body: { force_ssl?: boolean }) =>
    act(about, async () => {
      const done = await ask(() => api.PUT('/v1/zones/{zone_id}/records/{id}/ssl', { params, body }))
      await ssl.reload()
      return done
    })
  const isForced = force === 'true'
  return (
    <>
      <p>{until ? texts.until(timeOf(until)) : texts.noCertificate}</p>
      {why && <p class="fault">{texts.broken(why)}</p>}
      <p class="row">
        <Button label={texts.retryOf(domain.domainName)} onClick={put(texts.certificate, {})}>
          {texts.retry}
        </Button>
        {until && (
          <Button onClick={put(texts.force[`${isForced}`], { force_ssl: !isForced })}>
            {texts.force[`${isForced}`]}
          </Button>
        )}
      </p>
    </>
  )
}
