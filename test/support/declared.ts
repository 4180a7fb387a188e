/** Returns the names of the endpoints and of the background work that a source file declares. */
export const declaredNames = (source: string): string[] =>
  [...source.matchAll(/^ {2}(?:id: '(\w+)'|name: '(\w+\.\w+)'),$/gm)].map(([, id, job]) => id ?? (job as string))
