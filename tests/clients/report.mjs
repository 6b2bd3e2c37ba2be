// What both TypeScript clients do once they are connected: their methods have the same names.

export async function report(client, revision, extra) {
  const listed = await pages((cursor) => client.listResources({ cursor }), "resources");
  const templates = await pages((cursor) => client.listResourceTemplates({ cursor }), "resourceTemplates");
  const reads = {};
  for (const uri of [...listed.map((resource) => resource.uri), ...extra]) reads[uri] = await read(client, uri);
  console.log(JSON.stringify({ revision, listed, templates, reads }));
}

async function pages(list, member) {
  const items = [];
  let cursor;
  do {
    const page = await list(cursor);
    items.push(...page[member]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return items;
}

async function read(client, uri) {
  try {
    return { contents: (await client.readResource({ uri })).contents };
  } catch (error) {
    if (typeof error.code !== "number") throw error;
    return { error: { code: error.code, message: error.message, data: error.data } };
  }
}
