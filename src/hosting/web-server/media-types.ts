import { Mime } from 'mime/lite'
import others from 'mime/types/other.js'
import standard from 'mime/types/standard.js'

/** Where the list means something else than files of a site, or gives a name from before there was a registered one. */
const types = new Mime(standard, others).define(
  { 'text/plain': ['po', 'pot'], 'text/vcard': ['vcf'], 'audio/flac': ['flac'], 'video/mp4': ['m4v'] },
  true,
)

/** `Content-Type` by the ending of a file name; text is UTF-8, and what is not known a download. */
export function mediaType(name: string): string {
  // as a path: a file that is only called `html` has no ending
  const type = types.getType(`/${name}`) ?? 'application/octet-stream'
  return /^text\/|json$|xml$/.test(type) ? `${type}; charset=utf-8` : type
}
