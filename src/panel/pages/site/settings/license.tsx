import { api, ask, type Got } from '../../../api.ts'
import { askFirst } from '../../../parts/ask-first.tsx'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { CopyField } from '../../../parts/copy-field.tsx'
import { May } from '../../../parts/rights.tsx'
import { useLoad } from '../../../parts/use-load.ts'
import { settingsTexts as texts } from '../../../texts/site/settings.ts'
import type { PartProps } from '../part.ts'

/** The license key that the operator's plugins read. */
export const License = (props: PartProps) => (
  <May do="issueExtensionLicense" what={texts.issue}>
    <Held {...props} />
  </May>
)

function Held({ id, act }: PartProps) {
  const params = { path: { site_id: id } }
  const license = useLoad(() => ask(() => api.GET('/v1/sites/{site_id}/ext', { params })), [id])
  const known = license.got.value
  const held = known?.data && known.data.revokedAt === null ? known.data : undefined
  const change = (about: string, request: () => Promise<Got<unknown>>) =>
    act(about, async () => {
      const got = await request()
      await license.reload()
      return got
    })
  return (
    <Card title={texts.license}>
      <p class="quiet">{texts.licenseIs}</p>
      {license.fault.value && <p class="fault">{license.fault.value}</p>}
      {held && (
        <>
          <CopyField value={held.licenseKey} of={texts.key} />
          <p class="signed">
            <Button
              of="revokeExtensionLicense"
              isBad
              onClick={askFirst({
                title: texts.revoke,
                text: texts.revokeIs,
                button: texts.revoke,
                async go() {
                  const got = await ask(() => api.DELETE('/v1/sites/{site_id}/ext', { params }))
                  change(texts.revoked, async () => got)()
                },
              })}
            >
              {texts.revoke}
            </Button>
          </p>
        </>
      )}
      {known && !held && (
        <p class="row spread signed">
          {texts.noLicense}
          <Button
            of="issueExtensionLicense"
            onClick={change(texts.issued, () => ask(() => api.POST('/v1/sites/{site_id}/ext', { params })))}
          >
            {texts.issue}
          </Button>
        </p>
      )}
    </Card>
  )
}
