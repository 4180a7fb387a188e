import Type from 'typebox'
import { nullable, oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { ReleaseTarget } from '../cms-version/public.ts'
import { PluginsOrder } from '../plugins/public.ts'

export const updateStates = ['in_progress', 'kept', 'undone', 'failed', 'canceled'] as const
export type UpdateState = (typeof updateStates)[number]

/** The pages that Stead chooses, and those that the owner adds. */
export const pageKinds = ['front', 'post', 'page', 'product', 'cart', 'login', 'own'] as const
export type PageKind = (typeof pageKinds)[number]

/** How long reports are kept, and how many of a site. */
export const REPORT_DAYS = 90
export const MOST_REPORTS = 100
/** The most pages that an owner adds to an update. */
export const MOST_PATHS = 10

/** A page that an owner adds. */
export const PathOfPage = Type.String({
  pattern: '^/[\\x21-\\x22\\x24-\\x7e]*$',
  maxLength: 500,
  description: 'Path of a page, with its query',
  examples: ['/checkout/'],
})

/** Input of the operation. */
export const SafeUpdateOrder = Type.Object({
  siteId: Type.Integer(),
  plugins: PluginsOrder.properties.plugins,
  /** `path` is the folder of the theme. */
  themes: PluginsOrder.properties.plugins,
  /** What cannot be updated, each with the reason. */
  skipped: Type.Array(Type.String()),
  paths: Type.Array(Type.String()),
  /** The release of WordPress that the site gets. Missing: WordPress stays as it is. */
  core: Type.Optional(ReleaseTarget),
})
export type SafeUpdateOrder = Type.Static<typeof SafeUpdateOrder>

/** Returns the names of what an update changes, for texts. */
export const namesOfUpdate = ({
  plugins,
  themes,
  core,
}: Pick<SafeUpdateOrder, 'plugins' | 'themes' | 'core'>): string =>
  [
    ...[...plugins, ...themes].map(({ path }) => path.slice(0, 200)),
    ...(core ? [`WordPress ${core.version}`] : []),
  ].join(', ')

/** What an update changed. */
export interface UpdatedItem {
  readonly kind: 'plugin' | 'theme' | 'core'
  readonly name: string
  readonly outcome: 'updated' | 'unchanged' | 'failed'
  readonly from: string | null
  readonly to: string | null
  readonly message: string
}

export interface SeenPage {
  readonly status: number
  readonly title: string
  readonly ms: number
}

/** A page at one width. The report has the pictures of those that differ. */
export interface PicturePair {
  readonly width: number
  /** The share of the page that differs, in percent. */
  readonly different: number
  readonly isDifferent: boolean
}

export const pictureKinds = ['before', 'after', 'difference'] as const
export type PictureKind = (typeof pictureKinds)[number]

/** A page before and after an update. */
export interface UpdatedPage {
  readonly kind: PageKind
  readonly path: string
  readonly before: SeenPage
  readonly after: SeenPage | null
  /** What is worse. */
  readonly differences: readonly string[]
  /** What else was seen. It undoes nothing. */
  readonly notes: readonly string[]
  readonly pictures: readonly PicturePair[]
}

/** A message of the PHP log that the site did not have before. */
export interface NewMessage {
  readonly severity: string
  readonly message: string
  /** Whose code wrote it, such as `plugin` and `forms`. Empty: unknown. */
  readonly kind: string
  readonly name: string
  /** Whether it speaks against the update. */
  readonly counts: boolean
}

const ItemSchema = Type.Object(
  {
    kind: oneOf(['plugin', 'theme', 'core'], { examples: ['plugin'] }),
    name: Type.String({
      description: 'Folder of the plugin or theme. WordPress itself: `wordpress`',
      examples: ['akismet'],
    }),
    outcome: oneOf(['updated', 'unchanged', 'failed'], {
      description: 'The outcome before the comparison. If the update was undone, the site has `from` again',
      examples: ['updated'],
    }),
    from: nullable(Type.String({ examples: ['5.3'] })),
    to: nullable(Type.String({ examples: ['5.4'] })),
    message: Type.String({ examples: ['Updated akismet from 5.3 to 5.4'] }),
  },
  { title: 'SafeUpdateItem' },
)

const summary = {
  id: Type.Integer({ description: 'ID of the operation, too', examples: [42] }),
  state: oneOf(updateStates, {
    description: '`undone`: the comparison found a fault. `failed`: the update ended before it',
    examples: ['kept'],
  }),
  reason: nullable(Type.String({ description: 'Why it was undone, or failed', examples: [null] })),
  items: Type.Array(ItemSchema),
  differing_pages: Type.Integer({ examples: [0] }),
  batch_id: nullable(Type.Integer({ description: 'The safe update of many sites that it belongs to', examples: [41] })),
  by_policy: Type.Boolean({ description: 'Whether the update policy of the site started it', examples: [false] }),
  created_at: Timestamp,
  ended_at: nullable(Timestamp),
}

export const SafeUpdateSchema = Type.Object(summary, { title: 'SafeUpdate' })

const SeenSchema = (title: string) =>
  Type.Object(
    {
      status: Type.Integer({ description: 'HTTP status. 0: PHP did not answer', examples: [200] }),
      title: Type.String({ examples: ['Shop'] }),
      response_ms: Type.Integer({ examples: [180] }),
    },
    { title },
  )

const location = (example: string) =>
  nullable(
    Type.String({
      description: 'Path of the picture, if it differs. It requires the same token',
      examples: [`/v1/sites/1/safe-updates/42/pictures/0/1280/${example}`],
    }),
  )

const PictureSchema = Type.Object(
  {
    width: Type.Integer({ description: 'Width of the window in pixels', examples: [1280] }),
    different_percent: Type.Number({ description: 'Share of the picture that differs', examples: [0.1] }),
    is_different: Type.Boolean({ examples: [false] }),
    before_location: location('before'),
    after_location: location('after'),
    difference_location: location('difference'),
  },
  { title: 'SafeUpdatePicture' },
)

const PageSchema = Type.Object(
  {
    kind: oneOf(pageKinds, { description: '`own`: from `paths` of the request or of the site', examples: ['front'] }),
    path: Type.String({ examples: ['/'] }),
    before: SeenSchema('PageBeforeUpdate'),
    after: Type.Union([SeenSchema('PageAfterUpdate'), Type.Null()]),
    differences: Type.Array(Type.String(), {
      description: 'Faults that undo the update',
      examples: [['status 200 became 500']],
    }),
    notes: Type.Array(Type.String(), { description: 'Other observations. They undo nothing', examples: [[]] }),
    pictures: Type.Array(PictureSchema, { description: 'Empty if no browser looked at the page' }),
  },
  { title: 'SafeUpdatePage' },
)

const MessageSchema = Type.Object(
  {
    severity: Type.String({ examples: ['Warning'] }),
    message: Type.String({ examples: ['Undefined variable $cart'] }),
    kind: Type.String({ description: 'plugin, mu-plugin, theme, core, or empty', examples: ['plugin'] }),
    name: Type.String({ examples: ['forms'] }),
    counts: Type.Boolean({ description: 'Whether it is a fault that undoes the update', examples: [true] }),
  },
  { title: 'SafeUpdateMessage' },
)

export const SafeUpdateReport = Type.Object(
  {
    ...summary,
    pages: Type.Array(PageSchema),
    log: Type.Array(MessageSchema, { description: 'New kinds of messages in the PHP log since the update' }),
    pictures_missing: nullable(
      Type.String({ description: 'Why pictures were not compared. Null: they were', examples: [null] }),
    ),
  },
  { title: 'SafeUpdateReport' },
)

export interface StoredUpdate {
  readonly id: number
  readonly siteId: number
  readonly batchId: number | null
  readonly isByPolicy: boolean
  readonly state: UpdateState
  readonly reason: string | null
  readonly items: readonly UpdatedItem[]
  readonly pages: readonly UpdatedPage[]
  readonly logged: readonly NewMessage[]
  readonly noPictures: string | null
  readonly createdAt: number
  readonly endedAt: number | null
}

export function presentUpdate(update: StoredUpdate) {
  const { id, state, reason, items, pages, createdAt, endedAt, batchId, isByPolicy } = update
  return {
    ...{ id, state, reason, items: items.map((item) => ({ ...item })) },
    differing_pages: pages.filter(({ differences }) => differences.length > 0).length,
    ...{ batch_id: batchId, by_policy: isByPolicy },
    created_at: timestamp(createdAt),
    ended_at: endedAt === null ? null : timestamp(endedAt),
  }
}

const presentSeen = ({ status, title, ms }: SeenPage) => ({ status, title, response_ms: ms })

export function presentReport(siteId: number, update: StoredUpdate) {
  const { pages, logged, noPictures } = update
  return {
    ...presentUpdate(update),
    pages: pages.map(({ kind, path, before, after, differences, notes, pictures }, index) => ({
      ...{ kind, path, before: presentSeen(before), after: after && presentSeen(after) },
      ...{ differences: [...differences], notes: [...notes] },
      pictures: pictures.map((picture) =>
        presentPicture(`/v1/sites/${siteId}/safe-updates/${update.id}/pictures/${index}`, picture),
      ),
    })),
    log: logged.map((message) => ({ ...message })),
    pictures_missing: noPictures,
  }
}

function presentPicture(base: string, { width, different, isDifferent }: PicturePair) {
  const at = (kind: PictureKind) => (isDifferent ? `${base}/${width}/${kind}` : null)
  return {
    ...{ width, different_percent: different, is_different: isDifferent },
    ...{ before_location: at('before'), after_location: at('after'), difference_location: at('difference') },
  }
}
