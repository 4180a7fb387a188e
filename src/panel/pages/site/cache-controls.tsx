import type { ComponentChildren } from 'preact'
import { api, ask } from '../../api.ts'
import { Button } from '../../parts/button.tsx'
import type { IconName } from '../../parts/icons.ts'
import { Switch } from '../../parts/switch.tsx'
import { cacheTexts as texts } from '../../texts/site/cache.ts'
import { type PartProps, turnWith } from './part.ts'

/* Controls that the overview of a site and its cache page share. */

type Of = Pick<PartProps, 'id' | 'act'>

export const PurgeCache = ({ id, act, icon }: Of & { readonly icon?: IconName }) => (
  <Button
    isSmall
    icon={icon}
    of="purgeEdgeCache"
    onClick={act(texts.purged, () => ask(() => api.DELETE('/v1/sites/{id}/edge-cache', { params: { path: { id } } })))}
  >
    {texts.purge}
  </Button>
)

export const EdgeCache = ({ site, id, act, help }: Of & Pick<PartProps, 'site'> & { readonly help: string }) => (
  <Switch
    label={texts.edge}
    help={help}
    of="toggleEdgeCache"
    isOn={site.edgeCache === 'enabled'}
    turn={turnWith(
      act,
      (enabled) => texts.edgeTurned[`${enabled}`],
      (enabled) => ask(() => api.PUT('/v1/sites/{id}/edge-cache', { params: { path: { id } }, body: { enabled } })),
    )}
  />
)

/** @param props.children the text of the button, whose accessible name is longer */
export const FlushObjects = ({ id, act, children }: Of & { readonly children: ComponentChildren }) => (
  <Button
    of="purgeObjectCache"
    label={texts.flush}
    onClick={act(texts.flushed, () =>
      ask(() => api.DELETE('/v1/sites/{site_id}/object-cache', { params: { path: { site_id: id } } })),
    )}
  >
    {children}
  </Button>
)
