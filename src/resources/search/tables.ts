declare module '../../platform/db/schema.ts' {
  interface Schema {
    search_words: SearchWordRow
  }
}

/** A word by which an account finds a site, or a collaborator of its sites. Permissions are checked when it is read. */
export interface SearchWordRow {
  /** The account that finds it. */
  account_id: number
  kind: 'site' | 'person'
  /** The site, or the person's account. */
  about_id: number
  /** Without case and accents. See `foldedWords`. */
  word: string
}
