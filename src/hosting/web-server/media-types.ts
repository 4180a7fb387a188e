import { Mime } from 'mime/lite'
import others from 'mime/types/other.js'
import standard from 'mime/types/standard.js'

/** Overrides for extensions with another meaning in sites, or with a type that has a registered successor. */
const types = new Mime(standard, others).define(
  { 'text/plain': ['po', 'pot'], 'text/vcard': ['vcf'], 'audio/flac': ['flac'], 'video/mp4': ['m4v'] },
  true,
)

/** Returns the `Content-Type` for a file name's extension. Text is UTF-8, and unknown types are downloads. */
export function mediaType(name: string): string {
  // As a path, because a file that is just called `html` has no extension.
  const type = types.getType(`/${name}`) ?? 'application/octet-stream'
  return /^text\/|json$|xml$/.test(type) ? `${type}; charset=utf-8` : type
}
