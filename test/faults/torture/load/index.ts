import { collaborators } from './collaborators.ts'
import type { Load } from './load.ts'
import { notes } from './notes.ts'
import { readers } from './readers.ts'
import { sites } from './sites.ts'
import { tags } from './tags.ts'
import { visitors } from './visitors.ts'

export const loads: readonly Load[] = [notes, tags, collaborators, sites, visitors, readers]
