declare module '../../platform/db/schema.ts' {
  interface Schema {
    search_words: SearchWordRow
  }
}

/** A word by which an account finds a site, or a person who collaborates on its sites. Rights are checked when it is read. */
export interface SearchWordRow {
  /** Who finds it. */
  account_id: number
  kind: 'site' | 'person'
  /** The site, or the account of the person. */
  about_id: number
  /** Without case and accents: see `wordsOf`. */
  word: string
}
