/** The path of a site's database when it is a file, below its site directory. The site's PHP can change it. */
export const DATABASE_FOLDER = 'private/database'
export const DATABASE_NAME = 'site.sqlite'
export const DATABASE_FILE = `${DATABASE_FOLDER}/${DATABASE_NAME}`
