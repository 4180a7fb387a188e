import type { ComponentChildren } from 'preact'
import { api, ask } from '../../../api.ts'
import { askFirst } from '../../../parts/ask-first.tsx'
import { Button } from '../../../parts/button.tsx'
import { Card } from '../../../parts/card.tsx'
import { May, type Right, useRefused } from '../../../parts/rights.tsx'
import { go } from '../../../route.ts'
import { settingsTexts as texts } from '../../../texts/site/settings.ts'
import type { PartProps } from '../part.ts'

/** Actions that one click cannot undo. Hidden from people who may take none of them. */
export function DangerZone(props: PartProps) {
  const mayConvert = useRefused('convertSite') === undefined
  const mayDelete = useRefused('deleteSite') === undefined
  const rows = (
    <>
      <Convert {...props} />
      <Delete {...props} />
    </>
  )
  if (!mayConvert && !mayDelete) return rows
  return (
    <Card class="danger" title={texts.danger} isFlush>
      {rows}
    </Card>
  )
}

const Row = (props: {
  readonly of: Right
  readonly what: string
  readonly title: string
  readonly text: string
  readonly children: ComponentChildren
}) => (
  <May do={props.of} what={props.what}>
    <div class="rowline">
      <div>
        <b>{props.title}</b>
        <p class="quiet small">{props.text}</p>
      </div>
      {props.children}
    </div>
  </May>
)

function Convert({ site, id, act }: PartProps) {
  const staging = `${site.staging}` as const
  const convert = () => ask(() => api.PUT('/v1/sites/{id}/convert', { params: { path: { id } } }))
  return (
    <Row of="convertSite" what={texts.convert[staging]} title={texts.kind[staging]} text={texts.kindIs[staging]}>
      <Button
        of="convertSite"
        onClick={askFirst({
          title: texts.kind[staging],
          text: texts.kindIs[staging],
          button: texts.convert[staging],
          async go() {
            const got = await convert()
            act(texts.converted[staging], async () => got)()
          },
        })}
      >
        {texts.convert[staging]}
      </Button>
    </Row>
  )
}

const Delete = ({ site, id }: PartProps) => (
  <Row of="deleteSite" what={texts.deleteSite} title={texts.delete} text={texts.deleteIs}>
    <Button
      of="deleteSite"
      isBad
      onClick={askFirst({
        title: texts.deleteTitle(site.name),
        text: texts.deleteIs,
        button: texts.deleteSite,
        name: site.name,
        label: texts.type(site.name),
        go: async () => {
          await ask(() => api.DELETE('/v1/sites/{id}', { params: { path: { id } } }))
          go('/sites')
        },
      })}
    >
      {texts.deleteSite}
    </Button>
  </Row>
)
