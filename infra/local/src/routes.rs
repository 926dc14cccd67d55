//! Finds the function of a path, by API Gateway's rules: a literal segment beats `{parameter}`, which beats `{proxy+}`;
//! resources are case-sensitive; the trailing slash is ignored.

/// The routes of the template.
#[derive(Debug, Default)]
pub(crate) struct RouteTable {
    routes: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    method: String,
    resource: String,
    segments: Vec<Segment>,
    function: usize,
}

#[derive(Debug)]
enum Segment {
    Literal(String),
    Parameter(String),
    /// The rest of the path.
    Proxy(String),
}

/// A path's function, the matching resource, and the parameter values as sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub(crate) resource: &'a str,
    pub(crate) function: usize,
    pub(crate) parameters: Vec<(&'a str, String)>,
}

impl RouteTable {
    /// Adds a resource as the template writes it, for example `/api/v1/ecf/{proxy+}` with `ANY`.
    pub(crate) fn insert(&mut self, method: &str, resource: &str, function: usize) {
        let segments = resource
            .split('/')
            .filter(|segment| !segment.is_empty())
            .map(
                |segment| match segment.strip_prefix('{').and_then(|segment| segment.strip_suffix('}')) {
                    None => Segment::Literal(segment.to_owned()),
                    Some(name) => match name.strip_suffix('+') {
                        Some(name) => Segment::Proxy(name.to_owned()),
                        None => Segment::Parameter(name.to_owned()),
                    },
                },
            );
        self.routes.push(Entry {
            method: method.to_ascii_uppercase(),
            resource: resource.to_owned(),
            segments: segments.collect(),
            function,
        });
    }

    /// The best match for a request.
    pub(crate) fn find(&self, method: &str, path: &str) -> Option<Found<'_>> {
        let path: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        self.routes
            .iter()
            .filter(|route| route.method == "ANY" || route.method == method)
            .filter(|route| matches(&route.segments, &path))
            .min_by_key(|route| (rank(&route.segments), route.method == "ANY"))
            .map(|route| Found {
                resource: &route.resource,
                function: route.function,
                parameters: parameters(&route.segments, &path),
            })
    }
}

fn matches(segments: &[Segment], path: &[&str]) -> bool {
    let mut path = path.iter();
    for segment in segments {
        match (segment, path.next()) {
            (Segment::Proxy(_), Some(_)) => return true,
            (Segment::Literal(literal), Some(given)) if literal == given => {}
            (Segment::Parameter(_), Some(_)) => {}
            _ => return false,
        }
    }
    path.next().is_none()
}

fn parameters<'a>(segments: &'a [Segment], path: &[&str]) -> Vec<(&'a str, String)> {
    let values = segments
        .iter()
        .enumerate()
        .filter_map(|(place, segment)| match segment {
            Segment::Literal(_) => None,
            Segment::Parameter(name) => Some((name.as_str(), path[place].to_owned())),
            Segment::Proxy(name) => Some((name.as_str(), path[place..].join("/"))),
        });
    values.collect()
}

fn rank(segments: &[Segment]) -> Vec<u8> {
    let rank = |segment: &Segment| match segment {
        Segment::Literal(_) => 0,
        Segment::Parameter(_) => 1,
        Segment::Proxy(_) => 2,
    };
    segments.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> RouteTable {
        let mut table = RouteTable::default();
        table.insert("any", "/{proxy+}", 0);
        table.insert("ANY", "/api/v1/ecf", 1);
        table.insert("ANY", "/api/v1/ecf/{proxy+}", 2);
        table.insert("GET", "/api/v1/ecf/{id}", 3);
        table.insert("GET", "/api/v1/ecf/states", 4);
        table
    }

    #[test]
    fn a_literal_beats_a_parameter_which_beats_the_rest() {
        let table = table();
        let function = |method, path| table.find(method, path).map(|found| found.function);
        assert_eq!(function("GET", "/api/v1/ecf/states"), Some(4));
        assert_eq!(function("GET", "/api/v1/ecf/abc"), Some(3));
        assert_eq!(function("PUT", "/api/v1/ecf/abc"), Some(2));
        assert_eq!(function("GET", "/api/v1/ecf/abc/xml"), Some(2));
        assert_eq!(function("POST", "/api/v1/ecf/"), Some(1));
        assert_eq!(function("POST", "/api/v1/Ecf"), Some(0));
        assert_eq!(function("GET", "/"), None);
    }

    #[test]
    fn what_stands_for_a_parameter_is_kept_as_sent() {
        let table = table();
        let parameters = |path| table.find("GET", path).map(|found| found.parameters);
        assert_eq!(parameters("/api/v1/ecf/states"), Some(vec![]));
        assert_eq!(parameters("/api/v1/ecf/a%20b"), Some(vec![("id", "a%20b".to_owned())]));
        assert_eq!(
            parameters("/api/v1/ecf/abc/xml"),
            Some(vec![("proxy", "abc/xml".to_owned())])
        );
    }
}
